//! The table of providers.

use std::cmp::{Ordering, Reverse};

use maud::{Markup, html};
use time::OffsetDateTime;

use crate::components::{self, Tone};
use crate::frame::{self, Frame, PagePosition, Section};
use crate::listing::{Column, Listing, compare_ignoring_case};
use crate::model::{CappedCount, LatestResults, Performance, Provider, ProviderRow, Providers};
use crate::numbers;
use crate::query::Query;

/// The columns that providers can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderColumn {
    Name,
    Suspended,
    Companies,
    Confirmed,
    Pending,
    Exhausted,
    Unaddressed,
    Attempts,
    Success,
    Latency,
}

impl Column for ProviderColumn {
    type Row = ProviderRow;
    const ALL: &'static [Self] = &[
        Self::Name,
        Self::Suspended,
        Self::Companies,
        Self::Confirmed,
        Self::Pending,
        Self::Exhausted,
        Self::Unaddressed,
        Self::Attempts,
        Self::Success,
        Self::Latency,
    ];

    fn sort_key(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Suspended => "suspended",
            Self::Companies => "companies",
            Self::Confirmed => "confirmed",
            Self::Attempts => "attempts",
            Self::Success => "success",
            Self::Latency => "latency",
            Self::Pending => "pending",
            Self::Exhausted => "exhausted",
            Self::Unaddressed => "unaddressed",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Name => "Provider",
            Self::Suspended => "Status",
            Self::Companies => "Companies",
            Self::Confirmed => "Confirmed, 24 h",
            Self::Attempts => "Attempts, 24 h",
            Self::Success => "Last attempts",
            Self::Latency => "Delivery time",
            Self::Pending => "Pending",
            Self::Exhausted => "Exhausted",
            Self::Unaddressed => "Unaddressed",
        }
    }

    fn is_number(self) -> bool {
        !matches!(self, Self::Name | Self::Suspended)
    }

    fn compare_rows(self, a: &ProviderRow, b: &ProviderRow) -> Ordering {
        match self {
            Self::Name => compare_ignoring_case(&a.provider.name, &b.provider.name),
            // Suspended providers first.
            Self::Suspended => Reverse(a.provider.is_suspended).cmp(&Reverse(b.provider.is_suspended)),
            Self::Companies => a.companies.cmp(&b.companies),
            Self::Confirmed => a.last_24h.confirmed.cmp(&b.last_24h.confirmed),
            Self::Attempts => a.last_24h.attempts.cmp(&b.last_24h.attempts),
            Self::Success => compare_success_rates(a.latest.as_ref(), b.latest.as_ref()),
            Self::Latency => a.last_24h.mean_latency.cmp(&b.last_24h.mean_latency),
            Self::Pending => a.undelivered.pending.cmp(&b.undelivered.pending),
            Self::Exhausted => a.undelivered.exhausted.cmp(&b.undelivered.exhausted),
            Self::Unaddressed => a.undelivered.unaddressed.cmp(&b.undelivered.unaddressed),
        }
    }
}

/// Compares by the share of the latest attempts that were confirmed. Providers without attempts come first.
fn compare_success_rates(a: Option<&LatestResults>, b: Option<&LatestResults>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => (u64::from(a.confirmed) * u64::from(b.attempts))
            .cmp(&(u64::from(b.confirmed) * u64::from(a.attempts))),
        _ => a.is_some().cmp(&b.is_some()),
    }
}

/// Renders the table.
pub fn render_page(providers: &Providers, query: &Query, frame: &Frame) -> String {
    let path = Section::Providers.path();
    let list = &providers.list;
    let listing = Listing::<ProviderColumn>::from_query(query);
    let main = html! {
        h1 { "Providers" }
        @if list.total > 0 {
            (provider_table(providers, &listing, query, frame.now))
            p.soft {
                "The columns confirmed, pending, exhausted and unaddressed count events; "
                "an event may need several attempts. "
                "Delivery time is the mean of an attempt over 24 hours, with the 95th percentile below."
            }
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

fn provider_table(
    providers: &Providers,
    listing: &Listing<ProviderColumn>,
    query: &Query,
    now: OffsetDateTime,
) -> Markup {
    let path = Section::Providers.path();
    let head = html! { @for column in ProviderColumn::ALL { (components::sortable_heading(listing, query, path, *column)) } };
    let rows = html! {
        @for row in &providers.list.rows {
            tr {
                th.name scope="row" {
                    a href={ "/providers/" (row.provider.id) } { (row.provider.name) }
                    br;
                    @if let Some(url) = &row.provider.callback_origin { code { (url) } } @else { span.soft { "no callback URL" } }
                }
                td.standing {
                    @if is_failing(row.latest.as_ref(), now) { (components::badge(Tone::Bad, "failing")) " " }
                    (status_badges(&row.provider))
                }
                td.number { (numbers::format_count(row.companies)) }
                td.number { (numbers::format_count(row.last_24h.confirmed)) }
                td.number { (row.undelivered.pending) }
                td.number { (highlight_nonzero(row.undelivered.exhausted, Tone::Bad)) }
                td.number { (highlight_nonzero(row.undelivered.unaddressed, Tone::Warn)) }
                td.number { (numbers::format_count(row.last_24h.attempts)) }
                td.number { (success_rate(row.latest.as_ref(), now)) }
                td.number {
                    (format_latency(&row.last_24h))
                    @if let Some(percentiles) = &row.last_24h.percentiles {
                        br; span.soft { "p95 " (numbers::format_micros(percentiles.p95)) }
                    }
                }
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

pub(super) fn is_failing(latest: Option<&LatestResults>, now: OffsetDateTime) -> bool {
    latest.is_some_and(|latest| latest.is_failing(now))
}

/// Renders how many of the latest attempts were confirmed, highlighted if the receiver fails.
pub(super) fn success_rate(latest: Option<&LatestResults>, now: OffsetDateTime) -> Markup {
    let Some(latest) = latest else { return html! { "–" } };
    let share = format!("{} of {}", latest.confirmed, latest.attempts);
    html! {
        @if latest.is_failing(now) { (components::badge(Tone::Bad, &share)) } @else { (share) }
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
    use time::Duration;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 14:35:10 UTC);

    #[test]
    fn failing_receiver_is_highlighted_after_enough_recent_attempts() {
        let check = |confirmed, attempts, age: Duration, is_marked: bool| {
            let latest = LatestResults { attempts, confirmed, ended_at: NOW - age };
            let shown = super::success_rate(Some(&latest), NOW);
            assert_eq!(shown.into_string().contains("badge"), is_marked, "{confirmed} of {attempts}");
        };
        check(0, 19, Duration::ZERO, false);
        check(0, 20, Duration::ZERO, true);
        check(9, 20, Duration::hours(48), true);
        check(9, 20, Duration::hours(49), false);
        check(10, 20, Duration::ZERO, false);
        assert_eq!(super::success_rate(None, NOW).into_string(), "–");
    }

    #[test]
    fn providers_without_attempts_sort_first() {
        let of = |confirmed, attempts| LatestResults { attempts, confirmed, ended_at: NOW };
        let check = |a: Option<LatestResults>, b: Option<LatestResults>, expected| {
            assert_eq!(compare_success_rates(a.as_ref(), b.as_ref()), expected, "{a:?} {b:?}");
        };
        check(Some(of(1, 2)), Some(of(2, 3)), Ordering::Less);
        check(Some(of(2, 4)), Some(of(1, 2)), Ordering::Equal);
        check(None, Some(of(0, 9)), Ordering::Less);
        check(Some(of(20, 20)), Some(of(1, 2)), Ordering::Greater);
    }
}
