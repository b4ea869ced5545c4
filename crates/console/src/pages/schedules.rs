//! The table of scheduled distributions.

use std::cmp::Ordering;

use maud::{Markup, html};
use time::OffsetDateTime;

use crate::components::{self, Tone};
use crate::forms;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::listing::{Column, Listing, compare_ignoring_case};
use crate::model::{Schedule, Schedules};
use crate::numbers;
use crate::query::Query;
use crate::time_format;

/// The columns that schedules can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleColumn {
    Next,
    Company,
    Wallet,
    Points,
    Every,
    Failing,
    Skipped,
}

impl Column for ScheduleColumn {
    type Row = Schedule;
    const ALL: &'static [Self] =
        &[Self::Next, Self::Company, Self::Wallet, Self::Points, Self::Every, Self::Failing, Self::Skipped];

    fn sort_key(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Company => "company",
            Self::Wallet => "wallet",
            Self::Points => "points",
            Self::Every => "every",
            Self::Failing => "failing",
            Self::Skipped => "skipped",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Next => "Next date",
            Self::Company => "Company",
            Self::Wallet => "Wallet",
            Self::Points => "Points per user",
            Self::Every => "Every",
            Self::Failing => "Failing",
            Self::Skipped => "Skipped",
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Points | Self::Skipped)
    }

    /// When sorted by failure, failing schedules come first, those that have been failing the longest at the top.
    fn compare_rows(self, a: &Schedule, b: &Schedule) -> Ordering {
        let since = |schedule: &Schedule| schedule.failing.as_ref().map(|failing| failing.since);
        match self {
            Self::Next => a.next_on.cmp(&b.next_on),
            Self::Company => compare_ignoring_case(&a.company.name, &b.company.name),
            Self::Wallet => a.wallet.cmp(&b.wallet),
            Self::Points => a.points.cmp(&b.points),
            Self::Every => a.every.cmp(&b.every),
            Self::Failing => (since(a).is_none(), since(a)).cmp(&(since(b).is_none(), since(b))),
            Self::Skipped => a.skipped.cmp(&b.skipped),
        }
    }
}

/// Whether only failing schedules are requested: `?state=failing`.
pub fn is_failing_only(query: &Query) -> bool {
    query.get("state") == Some("failing")
}

/// Renders the table of schedules that are not cancelled.
pub fn render_page(schedules: &Schedules, query: &Query, frame: &Frame) -> String {
    let path = Section::Schedules.path();
    let list = &schedules.list;
    let listing = Listing::<ScheduleColumn>::from_query(query);
    let fields = forms::select_field("State", "state", &[("failing", "failing")], query);
    let head = html! { @for column in ScheduleColumn::ALL { (components::sortable_heading(&listing, query, path, *column)) } };
    let main = html! {
        h1 { "Schedules" }
        p.lead {
            "Each schedule pays on its next date at 00:00 UTC. A failed payment is retried every hour for a day; then the date is skipped."
        }
        (forms::filter_form(path, query, &["state"], &fields))
        @if list.total > 0 {
            (schedule_table(&list.rows, &head, true, frame.now))
            (components::page_links(&listing, list, query, path))
        } @else if is_failing_only(query) {
            (components::empty_message("No schedule is failing."))
        } @else {
            (components::empty_message("There are no schedules."))
        }
        (components::command_list(&[
            (
                "Create a schedule",
                "guerdon distribution schedule COMPANY_ID --wallet peer_wallet --points 500 --every month \
                 --start YYYY-MM-DD"
                    .to_owned(),
            ),
            ("Cancel one; points that it distributed remain", "guerdon distribution cancel SCHEDULE_ID".to_owned()),
            ("Deposit points into a reserve that is too low", "guerdon reserve deposit COMPANY_ID --points 100000 --key KEY".to_owned()),
        ]))
    };
    frame::render_frame(frame, PagePosition::Front(Section::Schedules), "Schedules", &main)
}

/// Renders all schedules of one company, in the given order.
pub(super) fn company_schedule_table(all: &[Schedule], now: OffsetDateTime) -> Markup {
    let head = html! {
        @for column in ScheduleColumn::ALL.iter().filter(|column| **column != ScheduleColumn::Company) {
            th scope="col" class=[column.is_number().then_some("number")] { (column.heading()) }
        }
    };
    schedule_table(all, &head, false, now)
}

fn schedule_table(all: &[Schedule], head: &Markup, with_company: bool, now: OffsetDateTime) -> Markup {
    let head = html! { (head) (components::column_headings(&["Id"])) };
    let rows = html! {
        @for schedule in all {
            tr {
                th scope="row" { (time_format::render_date(schedule.next_on)) }
                @if with_company { td.name { (components::company_link(&schedule.company)) } }
                td { (components::wallet_label(&schedule.wallet)) }
                td.number { (numbers::format_integer(schedule.points)) }
                td { (schedule.every) }
                td.wrap {
                    @if let Some(failing) = &schedule.failing {
                        (components::badge(Tone::Bad, "failing")) " " (failing.reason)
                        br; span.soft { "first tried " (time_format::format_age(now, failing.since)) }
                    } @else { span.soft { "no" } }
                }
                td.number { (numbers::format_count(schedule.skipped)) }
                td { code { (schedule.id) } }
            }
        }
    };
    components::scrollable_table("Schedules", &head, &rows)
}
