//! Scheduled distributions: each date is paid once, oldest first, regardless of concurrent workers and of failures.

use std::sync::{Arc, Mutex};

use guerdon_domain::commands::BlockingCommandQueue;
use guerdon_domain::distributions::{
    self, CreateSchedule, Period, Schedule, ScheduleError, cancel_schedule, create_schedule,
};
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::{Clock as _, StoreError, StoreExt as _, Timestamp};
use guerdon_domain::scheduler::{
    DateOutcome, DueDateError, PausedSchedules, ProcessedDate, run_next_due_date,
};
use guerdon_domain::values::{CompanyId, IsoDate, ScheduleId};
use guerdon_domain::wallets::WalletType;
use uuid::Uuid;

use crate::support::{LedgerFixture, on_each_database, run_concurrently};

fn start_of_date(date: &str) -> Timestamp {
    IsoDate::parse(date).unwrap().start_of_day()
}

fn create_peer_schedule(fixture: &LedgerFixture, period: Period, start: &str, points: i64) -> Schedule {
    try_create_schedule(fixture, WalletType::Peer, period, start, points).unwrap()
}

fn try_create_schedule(
    fixture: &LedgerFixture,
    wallet: WalletType,
    period: Period,
    start: &str,
    points: i64,
) -> Result<Schedule, ScheduleError> {
    let command = CreateSchedule {
        company_id: fixture.company,
        wallet,
        sum: Sum::Points(Points::new(points).unwrap()),
        period,
        start_on: IsoDate::parse(start).unwrap(),
    };
    fixture.store.transaction(|tx| create_schedule(tx, &command, &fixture.context()))
}

fn load_schedule(fixture: &LedgerFixture, id: ScheduleId) -> Schedule {
    fixture.read_snapshot(|reads| reads.find_schedule(id)).unwrap()
}

fn process_due_date(fixture: &LedgerFixture) -> Option<ProcessedDate> {
    run_next_due_date(fixture.background.as_ref(), &fixture.command_queue(), &mut PausedSchedules::default())
        .unwrap()
}

/// Runs all due distributions and returns each with its date.
fn all_due(fixture: &LedgerFixture) -> Vec<(String, DateOutcome)> {
    std::iter::from_fn(|| process_due_date(fixture))
        .map(|ran| (ran.due_on.to_string(), ran.outcome))
        .collect()
}

#[test]
fn eight_concurrent_workers_over_three_month_ends_pay_each_date_once() {
    on_each_database(|fixture| {
        let users: Vec<_> = (0..9).map(|n| fixture.create_user(&format!("u{n}"))).collect();
        fixture.deposit_points(1_000);
        let id = create_peer_schedule(fixture, Period::Month, "2026-12-31", 7).id;
        assert_eq!(process_due_date(fixture), None, "nothing is due yet");
        fixture.clock.set_time(start_of_date("2027-03-01"));
        let others = (!fixture.database.is_embedded()).then(|| fixture.database.open_for_service());
        let paid = Mutex::new(Vec::new());
        run_concurrently(8, |client| {
            let other = others.as_ref().filter(|_| client % 2 == 0);
            let store = other.map_or(fixture.background.as_ref(), |opened| opened.background.as_ref());
            let queue = other.map_or(&fixture.commands, |opened| &opened.commands);
            let commands =
                BlockingCommandQueue { queue: Arc::clone(queue), context_sources: fixture.context_sources() };
            for _ in 0..20 {
                match run_next_due_date(store, &commands, &mut PausedSchedules::default()) {
                    // Another process was faster.
                    Ok(Some(ProcessedDate { outcome: DateOutcome::ScheduleChanged, .. })) => {}
                    Ok(Some(ran)) => paid.lock().unwrap().push(ran),
                    Ok(None) => {} // nothing is due, or another worker has claimed it
                    Err(e) => panic!("{e}"),
                }
            }
        });
        let paid = paid.into_inner().unwrap();
        let mut dates: Vec<String> = paid.iter().map(|ran| ran.due_on.to_string()).collect();
        dates.sort();
        assert_eq!(dates, ["2026-12-31", "2027-01-31", "2027-02-28"]);
        assert!(paid.iter().all(|ran| ran.outcome == DateOutcome::Distributed { users: 10 }), "{paid:?}");
        assert_eq!(
            fixture
                .database
                .count_rows("journal_entries WHERE kind = 7 AND actor = 3 AND due_on IS NOT NULL"),
            3
        );
        assert_eq!(fixture.wallet_points(WalletType::Peer, users[4]), Some((21, 0)));
        assert_eq!(fixture.reserve_points(), 1_000 - 3 * 10 * 7);
        assert_eq!(load_schedule(fixture, id).next_on.to_string(), "2027-03-31");
        drop(others);
    });
}

#[test]
fn skipped_dates_are_paid_oldest_first() {
    on_each_database(|fixture| {
        fixture.deposit_points(1_000);
        create_peer_schedule(fixture, Period::Week, "2026-10-28", 1);
        create_peer_schedule(fixture, Period::Month, "2026-08-31", 2);
        let dates: Vec<String> = all_due(fixture).into_iter().map(|due| due.0).collect();
        let expected = [
            "2026-08-31",
            "2026-09-30",
            "2026-10-28",
            "2026-10-31",
            "2026-11-04",
            "2026-11-11",
            "2026-11-18",
        ];
        assert_eq!(dates, expected);
        assert_eq!(fixture.reserve_points(), 1_000 - 4 - 2 * 3);
    });
}

#[test]
fn an_unpayable_date_alerts_once_and_is_skipped_after_a_day_of_retries() {
    on_each_database(|fixture| {
        fixture.create_user_with("boss", |profile| profile.company_admin = true);
        let made = create_peer_schedule(fixture, Period::Week, "2026-11-20", 5);
        let (id, first) = (made.id, start_of_date("2026-11-20"));
        fixture.clock.set_time(first);
        let Some(ProcessedDate { outcome: DateOutcome::Refused { reason, retry_at: again_at }, .. }) =
            process_due_date(fixture)
        else {
            panic!()
        };
        let expected = "Insufficient funds: 10 points needed, but the reserve holds 0 points";
        assert_eq!(reason, expected);
        assert_eq!((again_at - first).whole_minutes(), 60);
        let failing = load_schedule(fixture, id).failed_attempts.unwrap();
        assert_eq!((failing.reason.as_str(), (failing.since - first).whole_seconds()), (expected, 0));
        assert_eq!(fixture.database.count_rows("notifications"), 2, "to each administrator");
        assert_eq!(fixture.database.count_rows("journal_entries WHERE kind = 7"), 0);
        assert_eq!(process_due_date(fixture), None, "not before an hour has passed");
        for hour in 1_i32..24 {
            fixture.clock.set_time(first + (time::Duration::HOUR + time::Duration::SECOND) * hour);
            assert!(
                matches!(process_due_date(fixture).unwrap().outcome, DateOutcome::Refused { .. }),
                "hour {hour}"
            );
            assert_eq!(process_due_date(fixture), None);
        }
        fixture.clock.set_time(first + time::Duration::hours(25));
        assert!(matches!(process_due_date(fixture).unwrap().outcome, DateOutcome::Skipped { .. }));
        assert_eq!(fixture.database.count_rows("notifications"), 2, "once per date");
        let skipped = fixture.read_snapshot(|reads| reads.list_skipped_dates(fixture.company));
        let skipped: Vec<_> =
            skipped.iter().map(|date| (date.due_on.to_string(), date.reason.as_str())).collect();
        assert_eq!(skipped, [("2026-11-20".to_owned(), expected)]);
        let after = load_schedule(fixture, id);
        assert_eq!((after.next_on.to_string().as_str(), after.failed_attempts), ("2026-11-27", None));
        assert_eq!(process_due_date(fixture), None);
        fixture.clock.set_time(start_of_date("2026-11-27"));
        assert!(matches!(process_due_date(fixture).unwrap().outcome, DateOutcome::Refused { .. }));
        assert_eq!(fixture.database.count_rows("notifications"), 4, "another date");
        fixture.deposit_points(10);
        fixture.clock.set_time(start_of_date("2026-11-27") + time::Duration::hours(2));
        assert_eq!(process_due_date(fixture).unwrap().outcome, DateOutcome::Distributed { users: 2 });
        assert_eq!(load_schedule(fixture, id).failed_attempts, None);
        assert_eq!(fixture.reserve_points(), 0);
    });
}

#[test]
fn a_refused_schedule_does_not_block_others() {
    on_each_database(|fixture| {
        fixture.deposit_points(3);
        let dear = create_peer_schedule(fixture, Period::Month, "2026-11-01", 100).id;
        let cheap = create_peer_schedule(fixture, Period::Month, "2026-11-02", 3).id;
        let ran: Vec<ProcessedDate> = std::iter::from_fn(|| process_due_date(fixture)).collect();
        assert_eq!(ran.iter().map(|ran| ran.schedule).collect::<Vec<_>>(), [dear, cheap]);
        assert_eq!(ran[1].outcome, DateOutcome::Distributed { users: 1 });
    });
}

/// Runs the next due distribution of a schedule that is not paused.
fn try_process_due_date(
    fixture: &LedgerFixture,
    paused: &mut PausedSchedules,
) -> Result<Option<(ScheduleId, DateOutcome)>, DueDateError> {
    let ran = run_next_due_date(fixture.background.as_ref(), &fixture.command_queue(), paused)?;
    Ok(ran.map(|ran| (ran.schedule, ran.outcome)))
}

#[test]
fn a_damaged_schedule_does_not_block_others() {
    on_each_database(|fixture| {
        fixture.deposit_points(100);
        let damaged = create_peer_schedule(fixture, Period::Month, "2026-11-01", 1).id;
        let intact = create_peer_schedule(fixture, Period::Month, "2026-11-02", 1).id;
        let mut paused = PausedSchedules::default();
        let mut process = || try_process_due_date(fixture, &mut paused);
        let pass_pause = || fixture.clock.set_time(fixture.clock.now() + time::Duration::minutes(2));
        let paid = DateOutcome::Distributed { users: 1 };

        let set_date = |date: &str| {
            let sql = format!("UPDATE schedules SET next_on = '{date}' WHERE start_on = '2026-11-01'");
            fixture.database.execute_sql(&sql, &sql);
        };
        set_date("2026/12/01");
        let failed = process().unwrap_err();
        assert_eq!(failed.schedule, Some(damaged));
        assert!(matches!(failed.cause, StoreError::Corrupt { column: "next_on", .. }), "{failed}");
        assert_eq!(process().unwrap(), Some((intact, paid.clone())));
        assert_eq!(process().unwrap(), None, "the damaged schedule is paused");
        set_date("2026-11-01");

        let move_to = |sqlite: &str, postgres: &str| {
            let condition = "WHERE start_on = '2026-11-01'";
            let unchecked = "ALTER TABLE schedules DROP CONSTRAINT IF EXISTS schedules_company_id_fkey";
            fixture.database.execute_sql(
                &format!("PRAGMA foreign_keys = OFF; UPDATE schedules SET company_id = {sqlite} {condition}"),
                &format!("{unchecked}; UPDATE schedules SET company_id = {postgres} {condition}"),
            );
        };
        move_to("zeroblob(16)", "'00000000-0000-0000-0000-000000000000'");
        pass_pause();
        let failed = process().unwrap_err();
        assert_eq!(failed.schedule, Some(damaged));
        assert!(failed.to_string().contains(&damaged.to_string()), "{failed}");
        assert_eq!(process().unwrap(), None);
        move_to("(SELECT id FROM companies)", "(SELECT id FROM companies)");
        pass_pause();
        assert_eq!(process().unwrap(), Some((damaged, paid)));
    });
}

#[test]
fn a_schedule_whose_refusal_cannot_be_recorded_does_not_block_others() {
    on_each_database(|fixture| {
        fixture.create_user_with("boss", |profile| profile.company_admin = true);
        let first = create_peer_schedule(fixture, Period::Month, "2026-11-01", 100).id;
        let second = create_peer_schedule(fixture, Period::Month, "2026-11-02", 100).id;
        let set_email = |email: &str| {
            let sql = format!("UPDATE users SET email = '{email}' WHERE email_folded = 'boss@example.com'");
            fixture.database.execute_sql(&sql, &sql);
        };
        set_email("no address");
        let mut paused = PausedSchedules::default();
        let mut process = || try_process_due_date(fixture, &mut paused);
        assert_eq!(process().unwrap_err().schedule, Some(first));
        assert_eq!(process().unwrap_err().schedule, Some(second));
        assert_eq!(process().unwrap(), None);
        set_email("boss@example.com");
    });
}

#[test]
fn a_schedule_that_was_skipped_while_the_clock_was_ahead_is_run_after_the_correction() {
    on_each_database(|fixture| {
        fixture.deposit_points(100);
        let id = create_peer_schedule(fixture, Period::Month, "2026-11-01", 1).id;
        let ahead = fixture.clock.now() + time::Duration::hours(12);
        let mut paused = PausedSchedules::from([(id, ahead)]);
        let ran = try_process_due_date(fixture, &mut paused).unwrap();
        assert_eq!(ran, Some((id, DateOutcome::Distributed { users: 1 })));
        assert_eq!(paused, PausedSchedules::default());
    });
}

#[test]
fn a_schedule_without_receivers_is_refused_and_deleted_users_receive_nothing() {
    on_each_database(|fixture| {
        let gone = fixture.create_user("gone");
        fixture.delete_user(gone).unwrap();
        fixture.deposit_points(100);
        try_create_schedule(fixture, WalletType::Manager, Period::Month, "2026-11-01", 1).unwrap();
        create_peer_schedule(fixture, Period::Month, "2026-11-02", 1);
        let ended: Vec<DateOutcome> = all_due(fixture).into_iter().map(|due| due.1).collect();
        assert!(
            matches!(&ended[0], DateOutcome::Refused { reason, .. } if reason.contains("no active user")),
            "{ended:?}"
        );
        assert_eq!(ended[1], DateOutcome::Distributed { users: 1 });
        assert_eq!(fixture.wallet_points(WalletType::Peer, gone), Some((0, 0)));
    });
}

#[test]
fn a_cancelled_schedule_pays_no_more() {
    on_each_database(|fixture| {
        fixture.deposit_points(100);
        let id = create_peer_schedule(fixture, Period::Month, "2026-11-01", 1).id;
        assert_eq!(all_due(fixture).len(), 1);
        let cancel = |id| fixture.store.transaction(|tx| cancel_schedule(tx, id, &fixture.context()));
        let cancelled = cancel(id).unwrap();
        assert_eq!(cancel(id).unwrap(), cancelled, "a second cancellation changes nothing");
        fixture.clock.set_time(start_of_date("2027-11-01"));
        assert_eq!(process_due_date(fixture), None);
        assert_eq!(fixture.reserve_points(), 99);
        assert!(matches!(cancel(ScheduleId::from_uuid(Uuid::nil())), Err(ScheduleError::NoSuchSchedule)));
    });
}

#[test]
fn a_schedule_requires_a_company_and_points() {
    on_each_database(|fixture| {
        let refused =
            |points| try_create_schedule(fixture, WalletType::Peer, Period::Week, "2026-11-20", points);
        assert!(matches!(refused(0), Err(ScheduleError::OutOfRange)));
        assert!(matches!(refused(i64::MAX), Err(ScheduleError::OutOfRange)));
        let nobody = CompanyId::from_uuid(Uuid::nil());
        let listed = fixture.store.read_snapshot(|reads| distributions::list_schedules(reads, nobody));
        assert!(matches!(listed, Err(ScheduleError::NoSuchCompany)));
        assert!(fixture.clock.now() < start_of_date("2026-11-20"));
        assert_eq!(fixture.database.count_rows("schedules"), 0);
    });
}
