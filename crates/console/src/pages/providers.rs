//! The table of providers.

use std::cmp::{Ordering, Reverse};

use maud::{Markup, html};

use crate::frame::{self, At, Frame, Section};
use crate::listing::{Column, Listing, by_letters};
use crate::model::{Counted, Performance, Provider, ProviderRow, Providers};
use crate::numbers;
use crate::parts::{self, Tone};
use crate::query::Query;

/// The columns that providers can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderColumn {
    Name,
    Suspended,
    Companies,
    Success,
    Latency,
    Pending,
    Exhausted,
    Unaddressed,
    CallbackUrl,
}

impl Column for ProviderColumn {
    type Row = ProviderRow;
    const ALL: &'static [Self] = &[
        Self::Name,
        Self::Suspended,
        Self::Companies,
        Self::Success,
        Self::Latency,
        Self::Pending,
        Self::Exhausted,
        Self::Unaddressed,
        Self::CallbackUrl,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Suspended => "suspended",
            Self::Companies => "companies",
            Self::Success => "success",
            Self::Latency => "latency",
            Self::Pending => "pending",
            Self::Exhausted => "exhausted",
            Self::Unaddressed => "unaddressed",
            Self::CallbackUrl => "callback_url",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Name => "Provider",
            Self::Suspended => "Standing",
            Self::Companies => "Companies",
            Self::Success => "Confirmed, 24 h",
            Self::Latency => "Mean latency",
            Self::Pending => "Pending",
            Self::Exhausted => "Exhausted",
            Self::Unaddressed => "Unaddressed",
            Self::CallbackUrl => "Callback URL",
        }
    }

    fn is_number(self) -> bool {
        !matches!(self, Self::Name | Self::Suspended | Self::CallbackUrl)
    }

    fn compare(self, a: &ProviderRow, b: &ProviderRow) -> Ordering {
        match self {
            Self::Name => by_letters(&a.provider.name, &b.provider.name),
            // Suspended providers first.
            Self::Suspended => Reverse(a.provider.is_suspended).cmp(&Reverse(b.provider.is_suspended)),
            Self::Companies => a.companies.cmp(&b.companies),
            Self::Success => success(&a.last_24h, &b.last_24h),
            Self::Latency => a.last_24h.mean_latency.cmp(&b.last_24h.mean_latency),
            Self::Pending => a.waiting.pending.cmp(&b.waiting.pending),
            Self::Exhausted => a.waiting.exhausted.cmp(&b.waiting.exhausted),
            Self::Unaddressed => a.waiting.unaddressed.cmp(&b.waiting.unaddressed),
            Self::CallbackUrl => a.provider.callback_origin.cmp(&b.provider.callback_origin),
        }
    }
}

/// Compares by the share of confirmed attempts. Providers without attempts come first.
fn success(a: &Performance, b: &Performance) -> Ordering {
    let (left, right) =
        (u128::from(a.confirmed) * u128::from(b.attempts), u128::from(b.confirmed) * u128::from(a.attempts));
    (a.attempts > 0).cmp(&(b.attempts > 0)).then(left.cmp(&right))
}

/// Renders the table.
pub fn page(providers: &Providers, query: &Query, frame: &Frame) -> String {
    let path = Section::Providers.path();
    let list = &providers.list;
    let listing = Listing::<ProviderColumn>::read(query);
    let main = html! {
        h1 { "Providers" }
        @if list.total > 0 {
            (table(providers, &listing, query))
            (parts::pages(&listing, list, query, path))
        } @else {
            (parts::nothing("There is no provider yet."))
        }
        (parts::commands(&[
            (
                "Make a provider; its credentials are printed this once",
                "guerdon provider create --name NAME --manages-all-domain-resources --callback-url URL".to_owned(),
            ),
            ("List them on the command line", "guerdon provider list".to_owned()),
        ]))
    };
    frame::page(frame, At::Front(Section::Providers), "Providers", &main)
}

fn table(providers: &Providers, listing: &Listing<ProviderColumn>, query: &Query) -> Markup {
    let path = Section::Providers.path();
    let head =
        html! { @for column in ProviderColumn::ALL { (parts::sorted(listing, query, path, *column)) } };
    let rows = html! {
        @for it in &providers.list.rows {
            tr {
                th.name scope="row" { a href={ "/providers/" (it.provider.id) } { (it.provider.name) } }
                td.standing { (standing(&it.provider)) }
                td.number { (numbers::counted(it.companies)) }
                td.number { (confirmed(&it.last_24h)) }
                td.number { (latency(&it.last_24h)) }
                td.number { (it.waiting.pending) }
                td.number { (alarming(it.waiting.exhausted, Tone::Bad)) }
                td.number { (alarming(it.waiting.unaddressed, Tone::Warn)) }
                td.url { @if let Some(url) = &it.provider.callback_origin { code { (url) } } @else { span.soft { "none" } } }
            }
        }
    };
    parts::table("Providers", &head, &rows)
}

/// Renders whether the provider is suspended or designated.
pub(super) fn standing(provider: &Provider) -> Markup {
    html! {
        @if provider.is_suspended { (parts::badge(Tone::Warn, "suspended")) " " }
        @if provider.is_designated { (parts::badge(Tone::Plain, "designated")) }
        @else { span.soft { "not designated" } }
    }
}

/// Renders the share of confirmed attempts, highlighted if the receiver fails.
pub(super) fn confirmed(performance: &Performance) -> Markup {
    let share = numbers::percent(performance.confirmed, performance.attempts);
    html! {
        @match share {
            Some(share) if performance.is_failing() => (parts::badge(Tone::Bad, &share)),
            Some(share) => (share),
            None => "–",
        }
    }
}

pub(super) fn latency(performance: &Performance) -> String {
    performance.mean_latency.map_or_else(|| "–".to_owned(), numbers::micros)
}

/// Renders a number, highlighted unless it is 0.
pub(super) fn alarming(value: Counted, tone: Tone) -> Markup {
    if value.is_zero() {
        html! { (value) }
    } else {
        parts::badge(tone, &value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_receiver_is_marked_once_there_are_enough_attempts() {
        let check = |confirmed, attempts, is_marked: bool| {
            let shown = super::confirmed(&Performance { attempts, confirmed, mean_latency: None });
            assert_eq!(shown.into_string().contains("badge"), is_marked, "{confirmed} of {attempts}");
        };
        check(0, 0, false);
        check(0, 19, false);
        check(0, 20, true);
        check(9, 20, true);
        check(10, 20, false);
        check(10, 21, true);
        check(11, 21, false);
    }

    #[test]
    fn shares_are_compared_and_none_is_least() {
        let of = |confirmed, attempts| Performance { attempts, confirmed, mean_latency: None };
        let check = |a, b, expected| assert_eq!(success(&a, &b), expected, "{a:?} {b:?}");
        check(of(1, 2), of(2, 3), Ordering::Less);
        check(of(2, 4), of(1, 2), Ordering::Equal);
        check(of(0, 0), of(0, 9), Ordering::Less);
        check(of(u64::MAX, u64::MAX), of(1, 2), Ordering::Greater);
    }
}
