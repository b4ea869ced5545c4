use super::*;
use crate::distributions::ContinueDistribution;
use crate::fixture::{COMPANY, Fixture, PROVIDER, missing, points, refusal, user};
use crate::ledger::{DistributionProgress, DistributionStep, ScheduleFacts};
use crate::model::Period;
use crate::values::{IsoDate, ScheduleId, Timestamp};

fn run(wallet: WalletType, count: i64, recipients: Recipients) -> RunDistribution {
    let sum = Sum::Points(points(count));
    RunDistribution { company_id: COMPANY, wallet, sum, recipients, schedule: None }
}

fn named(ids: &[UserId]) -> Recipients {
    Recipients::Named(ids.to_vec())
}

fn two_users() -> (Fixture, [UserId; 2]) {
    let mut fixture = Fixture::new(50);
    let users = [fixture.add_user(1, &[0, 0]), fixture.add_user(2, &[0, 0, 0])];
    fixture.fund(100, None);
    (fixture, users)
}

#[test]
fn every_receiver_gets_the_points_from_the_reserve() {
    let (mut fixture, users) = two_users();
    let done = fixture.decide(PROVIDER, &run(WalletType::User, 30, named(&users))).unwrap();
    assert_eq!((done.users, done.reserve.before, done.reserve.after), (2, points(100), points(40)));
    for user in users {
        assert_eq!(fixture.shows(Account::Wallet(WalletType::User, user)), 30);
    }
    fixture.load(Account::Rounding(COMPANY), crate::money::Amount::ZERO);
    let refused = refusal(fixture.decide(PROVIDER, &run(WalletType::User, 30, named(&users))));
    assert!(matches!(refused, DistributeError::InsufficientFunds));
    assert_eq!(fixture.changes.journal_entries.len(), 1);
}

#[test]
fn named_users_must_all_be_active_have_the_wallet_and_be_named_once() {
    let (mut fixture, [ann, boss]) = two_users();
    let gone = fixture.add_user(3, &[0, 0]);
    fixture.person(gone).active = false;
    fixture.facts.people.insert(user(4), None);
    let mut check =
        |wallet, count, ids: &[UserId]| refusal(fixture.decide(PROVIDER, &run(wallet, count, named(ids))));
    assert!(matches!(check(WalletType::User, 1, &[ann, ann]), DistributeError::Duplicate));
    assert!(
        matches!(check(WalletType::User, 1, &[ann, gone]), DistributeError::NoSuchUser(id) if id == gone)
    );
    assert!(matches!(check(WalletType::User, 1, &[user(4)]), DistributeError::NoSuchUser(_)));
    assert!(
        matches!(check(WalletType::Manager, 1, &[boss, ann]), DistributeError::NotAManager(id) if id == ann)
    );
    assert!(matches!(check(WalletType::User, 0, &[ann]), DistributeError::OutOfRange));
    assert!(matches!(check(WalletType::User, i64::MAX, &[ann]), DistributeError::OutOfRange));
    assert!(matches!(check(WalletType::User, 1, &[]), DistributeError::Nobody));
}

#[test]
fn of_everybody_those_receive_who_still_have_the_wallet() {
    let (mut fixture, [ann, boss]) = two_users();
    let gone = fixture.add_user(3, &[0, 0]);
    fixture.book.account_mut(Account::Wallet(WalletType::User, gone)).unwrap().closed_at =
        Some(Timestamp::UNIX_EPOCH);
    let all = || Recipients::All(vec![ann, boss, gone]);
    assert_eq!(fixture.decide(PROVIDER, &run(WalletType::User, 1, all())).unwrap().users, 2);
    assert_eq!(fixture.decide(PROVIDER, &run(WalletType::Manager, 1, all())).unwrap().users, 1);
    let unloaded = Recipients::All(vec![ann, user(6)]);
    fixture.facts.people.insert(user(6), Some(fixture.facts.people[&ann].clone().unwrap()));
    let needed = missing(fixture.decide(PROVIDER, &run(WalletType::User, 1, unloaded)));
    assert!(
        matches!(needed, LedgerError::AccountNotLoaded(_)),
        "an account that somebody holds is not left out"
    );
    fixture.person(boss).manager = false;
    let refused = refusal(fixture.decide(PROVIDER, &run(WalletType::Manager, 1, all())));
    assert!(matches!(refused, DistributeError::Nobody));
}

#[test]
fn many_receive_in_steps_and_what_cannot_be_paid_returns() {
    let (mut fixture, [ann, _]) = two_users();
    fixture.fund(10_000, None);
    fixture.load(Account::Transit(COMPANY), crate::money::Amount::ZERO);
    let many = Recipients::All((0..1_001).map(|number| user(5_000 + number)).collect());
    let done = fixture.decide(PROVIDER, &run(WalletType::User, 2, many)).unwrap();
    assert_eq!((done.users, done.reserve.after), (1_001, points(7_998)));
    assert!(matches!(
        &fixture.changes.distributions[..],
        [DistributionProgress::Begun { receivers, each_step: 1_000, .. }] if receivers.len() == 1_001
    ));
    let cause = fixture.changes.journal_entries[0].clone();
    let id = cause.id;
    let gone = fixture.add_user(3, &[0]);
    fixture.book.account_mut(Account::Wallet(WalletType::User, gone)).unwrap().closed_at =
        Some(Timestamp::UNIX_EPOCH);
    let step = DistributionStep::Pay { cause: cause.clone(), first_leg: 1, users: vec![ann, gone] };
    fixture.facts.distributions.insert(id, Some(step));
    assert_eq!(fixture.decide(PROVIDER, &ContinueDistribution(id)).unwrap(), Some(2));
    assert_eq!(fixture.shows(Account::Wallet(WalletType::User, ann)), 2);
    let paid = DistributionProgress::Paid { cause: id, first_leg: 1, unpaid: 1 };
    assert_eq!(fixture.changes.distributions[1], paid);
    fixture.facts.distributions.insert(id, Some(DistributionStep::Return { cause, unpaid: 1 }));
    assert_eq!(fixture.decide(PROVIDER, &ContinueDistribution(id)).unwrap(), Some(0));
    assert_eq!(fixture.shows(Account::Reserve(COMPANY)), 8_000);
    assert_eq!(fixture.changes.distributions[2], DistributionProgress::Ended { cause: id });
    fixture.facts.distributions.insert(id, None);
    assert_eq!(fixture.decide(PROVIDER, &ContinueDistribution(id)).unwrap(), None);
}

#[test]
fn a_date_of_a_schedule_is_paid_once_and_the_next_one_follows() {
    let (mut fixture, users) = two_users();
    let date = |text| IsoDate::parse(text).unwrap();
    let seen = Schedule {
        id: ScheduleId::from_uuid(uuid::Uuid::from_u128(9)),
        company_id: COMPANY,
        wallet: WalletType::User,
        points: points(5),
        every: Period::Week,
        start_on: date("2026-01-01"),
        next_on: date("2026-01-08"),
        due_at: date("2026-01-08").begins(),
        failing: None,
        created_at: Timestamp::UNIX_EPOCH,
        cancelled_at: None,
    };
    let command = RunDistribution {
        schedule: Some(seen.clone()),
        ..run(WalletType::User, 5, Recipients::All(users.to_vec()))
    };
    let mut decide = |schedule: &Schedule, is_paid| {
        let found = ScheduleFacts { schedule: schedule.clone(), is_paid };
        fixture.facts.schedules.insert(schedule.id, Some(found));
        fixture.decide(PROVIDER, &command).map(|done| done.users)
    };
    assert_eq!(decide(&seen, false).unwrap(), 2);
    assert_eq!(decide(&seen, true).unwrap(), 0, "the journal has the date already");
    let changed = Schedule { points: points(6), ..seen.clone() };
    assert!(matches!(refusal(decide(&changed, false)), DistributeError::Overtaken));
    let next: Vec<IsoDate> = fixture.changes.schedules.iter().map(|schedule| schedule.next_on).collect();
    assert_eq!(next, [date("2026-01-15"); 2]);
    assert_eq!(fixture.changes.journal_entries.len(), 1);
}
