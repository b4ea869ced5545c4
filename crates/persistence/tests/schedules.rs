//! Scheduled distributions: each date is paid once, oldest first, regardless of concurrent workers and of failures.

use std::sync::{Arc, Mutex};

use guerdon_domain::commands::Commands;
use guerdon_domain::distributions::{
    self, CreateSchedule, Period, Schedule, ScheduleError, cancel_schedule, create_schedule,
};
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::{Clock as _, StoreExt as _, Timestamp};
use guerdon_domain::scheduler::{DateEnd, Ran, StoodBack, run_due};
use guerdon_domain::values::{CompanyId, IsoDate, ScheduleId};
use guerdon_domain::wallets::WalletType;
use uuid::Uuid;

use crate::support::{World, at_once, on_each};

fn moment(date: &str) -> Timestamp {
    IsoDate::parse(date).unwrap().begins()
}

fn schedule(world: &World, every: Period, start: &str, points: i64) -> Schedule {
    schedule_into(world, WalletType::Peer, every, start, points).unwrap()
}

fn schedule_into(
    world: &World,
    wallet: WalletType,
    every: Period,
    start: &str,
    points: i64,
) -> Result<Schedule, ScheduleError> {
    let command = CreateSchedule {
        company_id: world.company,
        wallet,
        sum: Sum::Points(Points::new(points).unwrap()),
        every,
        start_on: IsoDate::parse(start).unwrap(),
    };
    world.store.transaction(|tx| create_schedule(tx, &command, &world.context()))
}

fn now(world: &World, id: ScheduleId) -> Schedule {
    world.reading(|reads| reads.schedule(id)).unwrap()
}

fn step(world: &World) -> Option<Ran> {
    run_due(world.background.as_ref(), &world.commands(), &mut StoodBack::default()).unwrap()
}

/// Runs all due distributions and returns each with its date.
fn all_due(world: &World) -> Vec<(String, DateEnd)> {
    std::iter::from_fn(|| step(world)).map(|ran| (ran.due_on.to_string(), ran.ended)).collect()
}

#[test]
fn eight_concurrent_workers_over_three_month_ends_pay_each_date_once() {
    on_each(|world| {
        let users: Vec<_> = (0..9).map(|n| world.user(&format!("u{n}"))).collect();
        world.deposit(1_000);
        let id = schedule(world, Period::Month, "2026-12-31", 7).id;
        assert_eq!(step(world), None, "nothing is due yet");
        world.clock.jump(moment("2027-03-01"));
        let others = (!world.database.is_embedded()).then(|| world.database.opened());
        let paid = Mutex::new(Vec::new());
        at_once(8, |client| {
            let other = others.as_ref().filter(|_| client % 2 == 0);
            let store = other.map_or(world.background.as_ref(), |opened| opened.background.as_ref());
            let queue = other.map_or(&world.commands, |opened| &opened.commands);
            let commands = Commands { queue: Arc::clone(queue), surroundings: world.surroundings() };
            for _ in 0..20 {
                match run_due(store, &commands, &mut StoodBack::default()) {
                    Ok(Some(Ran { ended: DateEnd::Overtaken, .. })) => {} // another one was faster
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
        assert!(paid.iter().all(|ran| ran.ended == DateEnd::Paid { users: 10 }), "{paid:?}");
        assert_eq!(
            world.database.count("journal_entries WHERE kind = 7 AND actor = 3 AND due_on IS NOT NULL"),
            3
        );
        assert_eq!(world.shows(WalletType::Peer, users[4]), Some((21, 0)));
        assert_eq!(world.reserve(), 1_000 - 3 * 10 * 7);
        assert_eq!(now(world, id).next_on.to_string(), "2027-03-31");
        drop(others);
    });
}

#[test]
fn missed_dates_are_paid_oldest_first() {
    on_each(|world| {
        world.deposit(1_000);
        schedule(world, Period::Week, "2026-10-28", 1);
        schedule(world, Period::Month, "2026-08-31", 2);
        let dates: Vec<String> = all_due(world).into_iter().map(|due| due.0).collect();
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
        assert_eq!(world.reserve(), 1_000 - 4 - 2 * 3);
    });
}

#[test]
fn an_unpayable_date_alerts_once_and_is_skipped_after_a_day_of_retries() {
    on_each(|world| {
        world.user_with("boss", |profile| profile.company_admin = true);
        let made = schedule(world, Period::Week, "2026-11-20", 5);
        let (id, first) = (made.id, moment("2026-11-20"));
        world.clock.jump(first);
        let Some(Ran { ended: DateEnd::Refused { reason, again_at }, .. }) = step(world) else { panic!() };
        assert_eq!(reason, "Insufficient funds");
        assert_eq!((again_at - first).whole_minutes(), 60);
        let failing = now(world, id).failing.unwrap();
        assert_eq!(
            (failing.reason.as_str(), (failing.since - first).whole_seconds()),
            ("Insufficient funds", 0)
        );
        assert_eq!(world.database.count("mails"), 2, "to each administrator");
        assert_eq!(world.database.count("journal_entries WHERE kind = 7"), 0);
        assert_eq!(step(world), None, "not before an hour has passed");
        for hour in 1_i32..24 {
            world.clock.jump(first + (time::Duration::HOUR + time::Duration::SECOND) * hour);
            assert!(matches!(step(world).unwrap().ended, DateEnd::Refused { .. }), "hour {hour}");
            assert_eq!(step(world), None);
        }
        world.clock.jump(first + time::Duration::hours(25));
        assert!(matches!(step(world).unwrap().ended, DateEnd::GivenUp { .. }));
        assert_eq!(world.database.count("mails"), 2, "once per date");
        let missed = world.reading(|reads| reads.missed_dates(world.company));
        let missed: Vec<_> =
            missed.iter().map(|date| (date.due_on.to_string(), date.reason.as_str())).collect();
        assert_eq!(missed, [("2026-11-20".to_owned(), "Insufficient funds")]);
        let after = now(world, id);
        assert_eq!((after.next_on.to_string().as_str(), after.failing), ("2026-11-27", None));
        assert_eq!(step(world), None);
        world.clock.jump(moment("2026-11-27"));
        assert!(matches!(step(world).unwrap().ended, DateEnd::Refused { .. }));
        assert_eq!(world.database.count("mails"), 4, "another date");
        world.deposit(10);
        world.clock.jump(moment("2026-11-27") + time::Duration::hours(2));
        assert_eq!(step(world).unwrap().ended, DateEnd::Paid { users: 2 });
        assert_eq!(now(world, id).failing, None);
        assert_eq!(world.reserve(), 0);
    });
}

#[test]
fn a_refused_schedule_does_not_block_others() {
    on_each(|world| {
        world.deposit(3);
        let dear = schedule(world, Period::Month, "2026-11-01", 100).id;
        let cheap = schedule(world, Period::Month, "2026-11-02", 3).id;
        let ran: Vec<Ran> = std::iter::from_fn(|| step(world)).collect();
        assert_eq!(ran.iter().map(|ran| ran.schedule).collect::<Vec<_>>(), [dear, cheap]);
        assert_eq!(ran[1].ended, DateEnd::Paid { users: 1 });
    });
}

#[test]
fn a_schedule_without_receivers_is_refused_and_deleted_users_receive_nothing() {
    on_each(|world| {
        let gone = world.user("gone");
        world.delete(gone).unwrap();
        world.deposit(100);
        schedule_into(world, WalletType::Manager, Period::Month, "2026-11-01", 1).unwrap();
        schedule(world, Period::Month, "2026-11-02", 1);
        let ended: Vec<DateEnd> = all_due(world).into_iter().map(|due| due.1).collect();
        assert!(
            matches!(&ended[0], DateEnd::Refused { reason, .. } if reason.contains("nobody")),
            "{ended:?}"
        );
        assert_eq!(ended[1], DateEnd::Paid { users: 1 });
        assert_eq!(world.shows(WalletType::Peer, gone), Some((0, 0)));
    });
}

#[test]
fn a_cancelled_schedule_pays_no_more() {
    on_each(|world| {
        world.deposit(100);
        let id = schedule(world, Period::Month, "2026-11-01", 1).id;
        assert_eq!(all_due(world).len(), 1);
        let cancel = |id| world.store.transaction(|tx| cancel_schedule(tx, id, &world.context()));
        let cancelled = cancel(id).unwrap();
        assert_eq!(cancel(id).unwrap(), cancelled, "a second cancellation changes nothing");
        world.clock.jump(moment("2027-11-01"));
        assert_eq!(step(world), None);
        assert_eq!(world.reserve(), 99);
        assert!(matches!(cancel(ScheduleId::from_uuid(Uuid::nil())), Err(ScheduleError::NoSuchSchedule)));
    });
}

#[test]
fn a_schedule_needs_a_company_and_a_price() {
    on_each(|world| {
        let refused = |points| schedule_into(world, WalletType::Peer, Period::Week, "2026-11-20", points);
        assert!(matches!(refused(0), Err(ScheduleError::OutOfRange)));
        assert!(matches!(refused(i64::MAX), Err(ScheduleError::OutOfRange)));
        let nobody = CompanyId::from_uuid(Uuid::nil());
        let listed = world.store.snapshot(|reads| distributions::schedules(reads, nobody));
        assert!(matches!(listed, Err(ScheduleError::NoSuchCompany)));
        assert!(world.clock.now() < moment("2026-11-20"));
        assert_eq!(world.database.count("schedules"), 0);
    });
}
