//! The table of scheduled distributions.

use std::cmp::Ordering;

use maud::{Markup, html};
use time::OffsetDateTime;

use crate::forms;
use crate::frame::{self, At, Frame, Section};
use crate::listing::{Column, Listing, by_letters};
use crate::model::{Schedule, Schedules};
use crate::numbers;
use crate::parts::{self, Tone};
use crate::query::Query;
use crate::times;

/// The columns that schedules can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleColumn {
    Next,
    Company,
    Wallet,
    Points,
    Every,
    Failing,
    Missed,
}

impl Column for ScheduleColumn {
    type Row = Schedule;
    const ALL: &'static [Self] =
        &[Self::Next, Self::Company, Self::Wallet, Self::Points, Self::Every, Self::Failing, Self::Missed];

    fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Company => "company",
            Self::Wallet => "wallet",
            Self::Points => "points",
            Self::Every => "every",
            Self::Failing => "failing",
            Self::Missed => "missed",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Next => "Next date",
            Self::Company => "Company",
            Self::Wallet => "Wallet",
            Self::Points => "Points for each",
            Self::Every => "Every",
            Self::Failing => "Failing",
            Self::Missed => "Left out",
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Points | Self::Missed)
    }

    /// In the column of failures, failing schedules come first, the longest failing at the top.
    fn compare(self, a: &Schedule, b: &Schedule) -> Ordering {
        let since = |schedule: &Schedule| schedule.failing.as_ref().map(|failing| failing.since);
        match self {
            Self::Next => a.next_on.cmp(&b.next_on),
            Self::Company => by_letters(&a.company.name, &b.company.name),
            Self::Wallet => a.wallet.cmp(&b.wallet),
            Self::Points => a.points.cmp(&b.points),
            Self::Every => a.every.cmp(&b.every),
            Self::Failing => (since(a).is_none(), since(a)).cmp(&(since(b).is_none(), since(b))),
            Self::Missed => a.missed.cmp(&b.missed),
        }
    }
}

/// Whether only failing schedules are requested: `?state=failing`.
pub fn is_failing_only(query: &Query) -> bool {
    query.get("state") == Some("failing")
}

/// Renders the table of schedules that are not cancelled.
pub fn page(schedules: &Schedules, query: &Query, frame: &Frame) -> String {
    let path = Section::Schedules.path();
    let list = &schedules.list;
    let listing = Listing::<ScheduleColumn>::read(query);
    let fields = forms::choice("State", "state", &[("failing", "failing")], query);
    let head =
        html! { @for column in ScheduleColumn::ALL { (parts::sorted(&listing, query, path, *column)) } };
    let main = html! {
        h1 { "Schedules" }
        p.lead {
            "Each pays its next date as that begins. One that fails is tried every hour for a day; then the date is left \
             out for good."
        }
        (forms::filter(path, query, &["state"], &fields))
        @if list.total > 0 {
            (table(&list.rows, &head, true, frame.now))
            (parts::pages(&listing, list, query, path))
        } @else if is_failing_only(query) {
            (parts::nothing("No schedule fails."))
        } @else {
            (parts::nothing("There is no schedule."))
        }
        (parts::commands(&[
            (
                "Make a schedule",
                "guerdon distribution schedule COMPANY_ID --wallet peer_wallet --points 500 --every month \
                 --start YYYY-MM-DD"
                    .to_owned(),
            ),
            ("End one; what it gave stays", "guerdon distribution cancel SCHEDULE_ID".to_owned()),
            ("Mend a reserve that is short", "guerdon reserve deposit COMPANY_ID --points 100000 --key KEY".to_owned()),
        ]))
    };
    frame::page(frame, At::Front(Section::Schedules), "Schedules", &main)
}

/// Renders all schedules of one company, in the given order.
pub(super) fn table_of_one(all: &[Schedule], now: OffsetDateTime) -> Markup {
    let head = html! {
        @for column in ScheduleColumn::ALL.iter().filter(|column| **column != ScheduleColumn::Company) {
            th scope="col" class=[column.is_number().then_some("number")] { (column.heading()) }
        }
    };
    table(all, &head, false, now)
}

fn table(all: &[Schedule], head: &Markup, with_company: bool, now: OffsetDateTime) -> Markup {
    let head = html! { (head) (parts::headings(&["Id"])) };
    let rows = html! {
        @for it in all {
            tr {
                th scope="row" { (times::dated(it.next_on)) }
                @if with_company { td.name { (parts::company(&it.company)) } }
                td { (parts::wallet(&it.wallet)) }
                td.number { (numbers::grouped(it.points)) }
                td { (it.every) }
                td.wrap {
                    @if let Some(failing) = &it.failing {
                        (parts::badge(Tone::Bad, "failing")) " " (failing.reason)
                        br; span.soft { "first tried " (times::ago(now, failing.since)) }
                    } @else { span.soft { "no" } }
                }
                td.number { (numbers::counted(it.missed)) }
                td { code { (it.id) } }
            }
        }
    };
    parts::table("Schedules", &head, &rows)
}
