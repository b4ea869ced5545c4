//! Sample models of every console page, full and empty.

mod companies;
mod events;
mod overview;
mod providers;
mod requests;
mod users;

use guerdon_console::model::{
    Actor, AuditEntry, AuditLog, CompanyFilterResult, LogPage, ObjectReference, Schedule, ScheduleFailure,
    Schedules, SearchResult, TablePage,
};
use guerdon_console::{Frame, Query, pages};
use time::macros::{date, datetime};
use time::{Duration, OffsetDateTime};

pub const NOW: OffsetDateTime = datetime!(2026-11-20 14:35:10 UTC);

/// A name that breaks any page that does not escape it.
pub const HOSTILE_NAME: &str = "<script>alert(\"x\")</script> & Sons ' Ltd";

pub struct Sample {
    pub name: &'static str,
    pub page: String,
}

pub fn render_samples() -> Vec<Sample> {
    let frame = |is_in_maintenance| Frame {
        now: NOW,
        instance: "guerdon.example.com".to_owned(),
        version: "0.1.0".to_owned(),
        is_in_maintenance,
        reload_link: "/events?state=exhausted&provider=1".to_owned(),
    };
    let (plain, maintained) = (frame(false), frame(true));
    let none = Query::default();
    let mut all = Vec::new();
    let mut add = |name, page| all.push(Sample { name, page });
    add("overview", pages::overview::render_page(&overview::busy_overview(), &plain));
    add("overview_maintained", pages::overview::render_page(&overview::busy_overview(), &maintained));
    add("overview_empty", pages::overview::render_page(&overview::empty_overview(), &plain));
    let query = Query::parse("sort=reserve&order=asc&page=3");
    add("companies", pages::companies::render_page(&companies::company_list(1_234), &query, &plain));
    add("companies_empty", pages::companies::render_page(&companies::company_list(0), &none, &plain));
    let query = Query::parse("q=%22%3E%3Cb%3E&reserve=low");
    add("companies_not_found", pages::companies::render_page(&companies::company_list(0), &query, &plain));
    let query = Query::parse("page=99");
    add("companies_beyond", pages::companies::render_page(&companies::page_past_the_end(), &query, &plain));
    let query = Query::parse("days=90");
    add("company", pages::company::render_page(&companies::large_company(), &query, &plain));
    add("company_empty", pages::company::render_page(&companies::empty_company(), &none, &plain));
    add("providers", pages::providers::render_page(&providers::provider_list(), &none, &plain));
    add("providers_empty", pages::providers::render_page(&providers::empty_provider_list(), &none, &plain));
    add("provider", pages::provider::render_page(&providers::large_provider(), &plain));
    add("provider_empty", pages::provider::render_page(&providers::empty_provider(), &plain));
    let query = Query::parse("state=exhausted&provider=01a1fdd4-8a51-741c-a29d-000000000001&before=x");
    add("events", pages::events::render_page(&events::event_list(), &query, &plain));
    add("events_empty", pages::events::render_page(&events::empty_event_list(), &none, &plain));
    add("event", pages::event::render_page(&events::exhausted_event(), &plain));
    add("event_pending", pages::event::render_page(&events::pending_event(), &plain));
    add("event_addressed", pages::event::render_page(&events::event_addressed_since(), &plain));
    add("event_empty", pages::event::render_page(&events::unaddressed_event(), &plain));
    add(
        "schedules",
        pages::schedules::render_page(&sample_schedules(60), &Query::parse("sort=failing"), &plain),
    );
    add("schedules_empty", pages::schedules::render_page(&sample_schedules(0), &none, &plain));
    render_audit_pages(&plain).into_iter().for_each(|(name, page)| add(name, page));
    add("user", pages::user::render_page(&users::active_user(), &plain));
    add("user_deleted", pages::user::render_page(&users::deleted_user(), &plain));
    for (name, outcome) in users::search_outcomes() {
        let result = SearchResult { text: Some(HOSTILE_NAME.to_owned()), outcome };
        add(name, pages::search::render_page(&result, &plain));
    }
    requests::render_pages(&plain).into_iter().for_each(|(name, page)| add(name, page));
    add("missing", pages::not_found::render_page(&plain));
    add("failed", pages::unavailable::render_page(&plain));
    all
}

fn render_audit_pages(frame: &Frame) -> [(&'static str, String); 4] {
    let render = |rows, filtered, query: &str| {
        pages::audit::render_page(&sample_audit_log(rows, filtered), &Query::parse(query), frame)
    };
    let one = CompanyFilterResult::One(sample_reference(101, HOSTILE_NAME));
    let several = CompanyFilterResult::Several(vec![
        sample_reference(101, HOSTILE_NAME),
        sample_reference(102, "Acme"),
    ]);
    let searched = "company=%22%3E%3Cb%3E";
    [
        ("audit", render(40, one, "actor=operator&company=acme.example&recognitions=shown")),
        ("audit_empty", render(0, CompanyFilterResult::All, "")),
        ("audit_several", render(0, several, searched)),
        ("audit_unknown", render(0, CompanyFilterResult::Unknown, searched)),
    ]
}

/// An id that ends in this number.
pub fn sample_id(number: u32) -> String {
    format!("01a1fdd4-8a51-741c-a29d-{number:012}")
}

pub fn sample_reference(number: u32, name: &str) -> ObjectReference {
    ObjectReference { id: sample_id(number), name: name.to_owned() }
}

/// Returns a number between 0 and `most`, always the same for the same `number`. Successive numbers rise and fall.
pub fn sample_wave(number: u32, most: u32) -> u32 {
    let mixed = number.wrapping_mul(2_654_435_761).rotate_left(13) % 1_000;
    let tide = [2, 1, 1, 1, 2, 4, 9, 14, 19, 22, 23, 21, 20, 23, 22, 19, 16, 12, 9, 7, 6, 5, 4, 3];
    let tide = tide.iter().cycle().nth(usize::try_from(number % 24).unwrap_or(0)).copied().unwrap_or(1);
    most / 23 * tide / 2 + most / 23 * tide / 2 * mixed / 1_000
}

/// `count` values, one per step, going back from now.
pub fn sample_history(count: u32, step: Duration, value: impl Fn(u32) -> i64) -> Vec<(OffsetDateTime, i64)> {
    (0..count).rev().map(|age| (NOW - step * i32::try_from(age).unwrap_or(0), value(age))).collect()
}

pub fn sample_schedule(number: u32) -> Schedule {
    let failing = (number % 5 == 2).then(|| ScheduleFailure {
        since: NOW - Duration::hours(i64::from(number)),
        reason: "the reserve holds 1,200 points, and 96,000 are needed".to_owned(),
    });
    Schedule {
        id: sample_id(7_000 + number),
        company: sample_reference(100 + number, &format!("Company {number}")),
        wallet: if number.is_multiple_of(3) { "manager_wallet" } else { "peer_wallet" }.to_owned(),
        points: i64::from(100 + number * 50),
        every: if number.is_multiple_of(4) { "week" } else { "month" }.to_owned(),
        next_on: date!(2026 - 11 - 21) + Duration::days(i64::from(number)),
        failing,
        skipped: u64::from(number % 7 / 5),
    }
}

fn sample_schedules(count: u32) -> Schedules {
    let rows = (0..count.min(50)).map(sample_schedule).collect();
    Schedules { list: TablePage { rows, total: u64::from(count) } }
}

pub fn sample_audit_entry(number: u32) -> AuditEntry {
    let (actor, action, detail) = match number % 4 {
        0 => (Actor::Operator("alice".to_owned()), "deposit", "100,000 points, key invoice-2026-117"),
        1 => (
            Actor::Provider(sample_reference(1, "Acme Rewards")),
            "company updated",
            "points_per_dollar 100 to 120",
        ),
        2 => (Actor::Schedule(sample_id(7_001)), "distribution", "500 points to each of 84, for 2026-11-20"),
        _ => (Actor::Operator("<b>bob</b>".to_owned()), "provider rotated", HOSTILE_NAME),
    };
    AuditEntry {
        at: NOW - Duration::minutes(i64::from(number) * 47),
        actor,
        action: action.to_owned(),
        company: (number % 4 != 3).then(|| sample_reference(101, "Northwind Traders")),
        object: (!number.is_multiple_of(4)).then(|| sample_id(9_000 + number)),
        detail: detail.to_owned(),
    }
}

fn sample_audit_log(count: u32, company: CompanyFilterResult) -> AuditLog {
    let (newer, older) = (Some("9".to_owned()), Some("4".to_owned()));
    let list = LogPage {
        rows: (0..count).map(sample_audit_entry).collect(),
        newer: newer.filter(|_| count > 0),
        older: older.filter(|_| count > 0),
    };
    let actions = ["deposit", "distribution", "company updated", "provider rotated"];
    AuditLog {
        list,
        actions: actions.map(str::to_owned).to_vec(),
        providers: vec![sample_reference(1, "Acme Rewards"), sample_reference(2, HOSTILE_NAME)],
        company,
    }
}
