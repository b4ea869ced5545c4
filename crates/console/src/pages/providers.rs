//! The table of providers.

use std::cmp::{Ordering, Reverse};

use maud::{Markup, html};

use crate::components::{self, Tone};
use crate::frame::{self, Frame, PagePosition, Section};
use crate::listing::{Column, Listing, compare_ignoring_case};
use crate::model::{CappedCount, Performance, Provider, ProviderRow, Providers};
use crate::numbers;
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

    fn sort_key(self) -> &'static str {
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

    fn compare_rows(self, a: &ProviderRow, b: &ProviderRow) -> Ordering {
        match self {
            Self::Name => compare_ignoring_case(&a.provider.name, &b.provider.name),
            // Suspended providers first.
            Self::Suspended => Reverse(a.provider.is_suspended).cmp(&Reverse(b.provider.is_suspended)),
            Self::Companies => a.companies.cmp(&b.companies),
            Self::Success => compare_success_rates(&a.last_24h, &b.last_24h),
            Self::Latency => a.last_24h.mean_latency.cmp(&b.last_24h.mean_latency),
            Self::Pending => a.undelivered.pending.cmp(&b.undelivered.pending),
            Self::Exhausted => a.undelivered.exhausted.cmp(&b.undelivered.exhausted),
            Self::Unaddressed => a.undelivered.unaddressed.cmp(&b.undelivered.unaddressed),
            Self::CallbackUrl => a.provider.callback_origin.cmp(&b.provider.callback_origin),
        }
    }
}

/// Compares by the share of confirmed attempts. Providers without attempts come first.
fn compare_success_rates(a: &Performance, b: &Performance) -> Ordering {
    let (left, right) =
        (u128::from(a.confirmed) * u128::from(b.attempts), u128::from(b.confirmed) * u128::from(a.attempts));
    (a.attempts > 0).cmp(&(b.attempts > 0)).then(left.cmp(&right))
}

/// Renders the table.
pub fn render_page(providers: &Providers, query: &Query, frame: &Frame) -> String {
    let path = Section::Providers.path();
    let list = &providers.list;
    let listing = Listing::<ProviderColumn>::from_query(query);
    let main = html! {
        h1 { "Providers" }
        @if list.total > 0 {
            (provider_table(providers, &listing, query))
            (components::page_links(&listing, list, query, path))
        } @else {
            (components::empty_message("There are no providers yet."))
        }
        (components::command_list(&[
            (
                "Create a provider; its credentials are printed only once",
                "guerdon provider create --name NAME --manages-all-domain-resources --callback-url URL".to_owned(),
            ),
            ("List them on the command line", "guerdon provider list".to_owned()),
        ]))
    };
    frame::render_frame(frame, PagePosition::Front(Section::Providers), "Providers", &main)
}

fn provider_table(providers: &Providers, listing: &Listing<ProviderColumn>, query: &Query) -> Markup {
    let path = Section::Providers.path();
    let head = html! { @for column in ProviderColumn::ALL { (components::sortable_heading(listing, query, path, *column)) } };
    let rows = html! {
        @for row in &providers.list.rows {
            tr {
                th.name scope="row" { a href={ "/providers/" (row.provider.id) } { (row.provider.name) } }
                td.standing { (status_badges(&row.provider)) }
                td.number { (numbers::format_count(row.companies)) }
                td.number { (success_rate(&row.last_24h)) }
                td.number { (format_latency(&row.last_24h)) }
                td.number { (row.undelivered.pending) }
                td.number { (highlight_nonzero(row.undelivered.exhausted, Tone::Bad)) }
                td.number { (highlight_nonzero(row.undelivered.unaddressed, Tone::Warn)) }
                td.url { @if let Some(url) = &row.provider.callback_origin { code { (url) } } @else { span.soft { "none" } } }
            }
        }
    };
    components::scrollable_table("Providers", &head, &rows)
}

/// Renders whether the provider is suspended or designated.
pub(super) fn status_badges(provider: &Provider) -> Markup {
    html! {
        @if provider.is_suspended { (components::badge(Tone::Warn, "suspended")) " " }
        @if provider.is_designated { (components::badge(Tone::Plain, "designated")) }
        @else { span.soft { "not designated" } }
    }
}

/// Renders the share of confirmed attempts, highlighted if the receiver fails.
pub(super) fn success_rate(performance: &Performance) -> Markup {
    let share = numbers::format_percent(performance.confirmed, performance.attempts);
    html! {
        @match share {
            Some(share) if performance.is_failing() => (components::badge(Tone::Bad, &share)),
            Some(share) => (share),
            None => "–",
        }
    }
}

pub(super) fn format_latency(performance: &Performance) -> String {
    performance.mean_latency.map_or_else(|| "–".to_owned(), numbers::format_micros)
}

/// Renders a number, highlighted unless it is 0.
pub(super) fn highlight_nonzero(value: CappedCount, tone: Tone) -> Markup {
    if value.is_zero() {
        html! { (value) }
    } else {
        components::badge(tone, &value.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_receiver_is_highlighted_after_enough_attempts() {
        let check = |confirmed, attempts, is_marked: bool| {
            let shown = super::success_rate(&Performance { attempts, confirmed, mean_latency: None });
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
    fn providers_without_attempts_sort_first() {
        let of = |confirmed, attempts| Performance { attempts, confirmed, mean_latency: None };
        let check = |a, b, expected| assert_eq!(compare_success_rates(&a, &b), expected, "{a:?} {b:?}");
        check(of(1, 2), of(2, 3), Ordering::Less);
        check(of(2, 4), of(1, 2), Ordering::Equal);
        check(of(0, 0), of(0, 9), Ordering::Less);
        check(of(u64::MAX, u64::MAX), of(1, 2), Ordering::Greater);
    }
}
