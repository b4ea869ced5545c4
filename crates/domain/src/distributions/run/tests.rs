use super::*;
use crate::distributions::ContinueDistribution;
use crate::fixture::{COMPANY, Fixture, PROVIDER, expect_not_loaded, expect_refusal, points, user_id};
use crate::ledger::{DistributionProgress, DistributionStep, ScheduleFacts};
use crate::memory::FixedClock;
use crate::model::Period;
use crate::values::{IsoDate, JournalEntryId, ScheduleId, Timestamp};

fn new_distribution(wallet: WalletType, count: i64, recipients: Recipients) -> RunDistribution {
    let sum = Sum::Points(points(count));
    RunDistribution { company_id: COMPANY, wallet, sum, recipients, schedule: None }
}

fn named_recipients(ids: &[UserId]) -> Recipients {
    Recipients::Named(ids.to_vec())
}

fn weekly_schedule() -> Schedule {
    let date = |text| IsoDate::parse(text).unwrap();
    Schedule {
        id: ScheduleId::from_uuid(uuid::Uuid::from_u128(9)),
        company_id: COMPANY,
        wallet: WalletType::User,
        points: points(5),
        period: Period::Week,
        start_on: date("2026-01-01"),
        next_on: date("2026-01-08"),
        due_at: date("2026-01-08").start_of_day(),
        failed_attempts: None,
        created_at: Timestamp::UNIX_EPOCH,
        cancelled_at: None,
    }
}

fn two_users() -> (Fixture, [UserId; 2]) {
    let mut fixture = Fixture::new(50);
    let users = [fixture.add_user(1, &[0, 0]), fixture.add_user(2, &[0, 0, 0])];
    fixture.set_reserve(100, None);
    (fixture, users)
}

#[test]
fn a_distribution_needs_its_company_receivers_and_schedule() {
    let users = [user_id(1), user_id(2)];
    let wallets = users.map(|id| Account::Wallet(WalletType::Manager, id));
    for recipients in [Recipients::Named(users.into()), Recipients::All(users.into())] {
        let command = RunDistribution {
            schedule: Some(weekly_schedule()),
            ..new_distribution(WalletType::Manager, 1, recipients)
        };
        let expected = Needs {
            companies: BTreeSet::from([COMPANY]),
            schedules: BTreeSet::from([weekly_schedule().id]),
            users: BTreeSet::from(users),
            accounts: wallets.into_iter().chain([Account::Reserve(COMPANY)]).collect(),
            ..Needs::default()
        };
        assert_eq!((command.initial_needs(), command.affected_count()), (expected, 2));
        let further = Needs {
            accounts: BTreeSet::from([Account::Rounding(COMPANY)]),
            administrators: BTreeSet::from([COMPANY]),
            ..Needs::default()
        };
        assert_eq!(command.further_needs(&Facts::default()).unwrap(), further);
    }
}

#[test]
fn a_distribution_in_steps_needs_no_accounts_of_receivers() {
    let users: Vec<UserId> = (0..1_001).map(user_id).collect();
    let check = |recipients, needed_users: usize| {
        let needs = new_distribution(WalletType::User, 1, recipients).initial_needs();
        assert_eq!(needs.users.len(), needed_users);
        assert_eq!(needs.accounts, BTreeSet::from([Account::Reserve(COMPANY), Account::Transit(COMPANY)]));
    };
    check(Recipients::Named(users.clone()), 1_001);
    check(Recipients::All(users.clone()), 0);
    let in_one_step = Recipients::All(users[..1_000].to_vec());
    let needs = new_distribution(WalletType::User, 1, in_one_step).initial_needs();
    assert_eq!(needs.accounts.len(), 1_001, "the reserve and the receivers");
}

#[test]
fn every_receiver_gets_the_points_from_the_reserve() {
    let (mut fixture, users) = two_users();
    let done = fixture
        .decide_command(PROVIDER, &new_distribution(WalletType::User, 30, named_recipients(&users)))
        .unwrap();
    assert_eq!((done.users, done.reserve.before, done.reserve.after), (2, points(100), points(40)));
    for user in users {
        assert_eq!(fixture.shown_points(Account::Wallet(WalletType::User, user)), 30);
    }
    fixture.load_account(Account::Rounding(COMPANY), crate::money::Amount::ZERO);
    let refused = expect_refusal(
        fixture.decide_command(PROVIDER, &new_distribution(WalletType::User, 30, named_recipients(&users))),
    );
    assert_eq!(refused.to_string(), "Insufficient funds: 60 points needed, but the reserve holds 40 points");
    assert_eq!(fixture.changes.journal_entries.len(), 1);
}

#[test]
fn named_users_must_all_be_active_have_the_wallet_and_be_named_once() {
    let (mut fixture, [ann, boss]) = two_users();
    let deleted = fixture.add_user(3, &[0, 0]);
    fixture.user_mut(deleted).active = false;
    fixture.facts.users.insert(user_id(4), None);
    let closed = fixture.add_user(5, &[0, 0]);
    fixture.book.account_mut(Account::Wallet(WalletType::User, closed)).unwrap().closed_at =
        Some(Timestamp::UNIX_EPOCH);
    let mut check = |wallet, count, ids: &[UserId]| {
        expect_refusal(
            fixture.decide_command(PROVIDER, &new_distribution(wallet, count, named_recipients(ids))),
        )
    };
    assert!(matches!(check(WalletType::User, 1, &[ann, ann]), DistributeError::Duplicate(id) if id == ann));
    assert!(
        matches!(check(WalletType::User, 1, &[ann, deleted]), DistributeError::NoSuchUser(id) if id == deleted)
    );
    assert!(matches!(check(WalletType::User, 1, &[user_id(4)]), DistributeError::NoSuchUser(_)));
    assert!(
        matches!(check(WalletType::User, 1, &[ann, closed]), DistributeError::NoSuchUser(id) if id == closed)
    );
    assert!(
        matches!(check(WalletType::Manager, 1, &[boss, ann]), DistributeError::NotAManager(id) if id == ann)
    );
    assert!(matches!(check(WalletType::User, 0, &[ann]), DistributeError::OutOfRange));
    assert!(matches!(check(WalletType::User, i64::MAX, &[ann]), DistributeError::OutOfRange));
    assert!(matches!(check(WalletType::User, 1, &[]), DistributeError::NoReceivers));
}

#[test]
fn only_users_who_still_have_the_wallet_receive() {
    let (mut fixture, [ann, boss]) = two_users();
    let deleted = fixture.add_user(3, &[0, 0]);
    fixture.book.account_mut(Account::Wallet(WalletType::User, deleted)).unwrap().closed_at =
        Some(Timestamp::UNIX_EPOCH);
    let all = || Recipients::All(vec![ann, boss, deleted]);
    assert_eq!(
        fixture.decide_command(PROVIDER, &new_distribution(WalletType::User, 1, all())).unwrap().users,
        2
    );
    assert_eq!(
        fixture.decide_command(PROVIDER, &new_distribution(WalletType::Manager, 1, all())).unwrap().users,
        1
    );
    let unloaded = Recipients::All(vec![ann, user_id(6)]);
    fixture.facts.users.insert(user_id(6), Some(fixture.facts.users[&ann].clone().unwrap()));
    let needed =
        expect_not_loaded(fixture.decide_command(PROVIDER, &new_distribution(WalletType::User, 1, unloaded)));
    assert!(
        matches!(needed, LedgerError::AccountNotLoaded(_)),
        "a receiver whose account is not loaded is not left out"
    );
    fixture.user_mut(boss).manager = false;
    let refused =
        expect_refusal(fixture.decide_command(PROVIDER, &new_distribution(WalletType::Manager, 1, all())));
    assert!(matches!(refused, DistributeError::NoReceivers));
}

fn needed_accounts(fixture: &Fixture, distribution: JournalEntryId) -> BTreeSet<Account> {
    let needs = ContinueDistribution(distribution).further_needs(&fixture.facts).unwrap();
    assert_eq!(needs, Needs { accounts: needs.accounts.clone(), ..Needs::default() });
    needs.accounts
}

#[test]
fn large_distributions_run_in_steps_and_return_the_unpaid_remainder() {
    let (mut fixture, [ann, _]) = two_users();
    fixture.set_reserve(10_000, None);
    fixture.load_account(Account::Transit(COMPANY), crate::money::Amount::ZERO);
    let many = Recipients::All((0..1_001).map(|number| user_id(5_000 + number)).collect());
    let done = fixture.decide_command(PROVIDER, &new_distribution(WalletType::User, 2, many)).unwrap();
    assert_eq!((done.users, done.reserve.after), (1_001, points(7_998)));
    assert!(matches!(
        &fixture.changes.distributions[..],
        [(_, DistributionProgress::Started { receivers, receivers_per_step: 1_000 })] if receivers.len() == 1_001
    ));
    let entry = fixture.changes.journal_entries[0].clone();
    let id = entry.id;
    let deleted = fixture.add_user(3, &[0]);
    fixture.book.account_mut(Account::Wallet(WalletType::User, deleted)).unwrap().closed_at =
        Some(Timestamp::UNIX_EPOCH);
    let step = DistributionStep::Pay { entry: entry.clone(), first_leg: 1, users: vec![ann, deleted] };
    fixture.facts.distributions.insert(id, Some(step));
    let command = ContinueDistribution(id);
    let step_at = Timestamp::from_unix_micros(1_000_000).unwrap();
    fixture.clock = FixedClock(step_at);
    assert_eq!(command.initial_needs(), Needs { distributions: BTreeSet::from([id]), ..Needs::default() });
    assert_eq!(command.affected_count(), 1_000, "as many as one step pays");
    let [ann_wallet, deleted_wallet] = [ann, deleted].map(|id| Account::Wallet(WalletType::User, id));
    let paying = [Account::Transit(COMPANY), ann_wallet, deleted_wallet];
    assert_eq!(needed_accounts(&fixture, id), paying.into());
    assert_eq!(fixture.decide_command(PROVIDER, &command).unwrap(), Some(2));
    assert_eq!(fixture.shown_points(Account::Wallet(WalletType::User, ann)), 2);
    let paid = DistributionProgress::StepPaid { first_leg: 1, unpaid: 1 };
    assert_eq!(fixture.changes.distributions[1], (id, paid));
    fixture.facts.distributions.insert(id, Some(DistributionStep::Return { entry, unpaid: 1 }));
    assert_eq!(needed_accounts(&fixture, id), [Account::Transit(COMPANY), Account::Reserve(COMPANY)].into());
    assert_eq!(fixture.decide_command(PROVIDER, &ContinueDistribution(id)).unwrap(), Some(0));
    assert_eq!(fixture.shown_points(Account::Reserve(COMPANY)), 8_000);
    assert_eq!(fixture.changes.distributions[2], (id, DistributionProgress::Finished));
    let times: Vec<Timestamp> = fixture.book.transfers().iter().map(|transfer| transfer.at).collect();
    assert_eq!(times, [Timestamp::UNIX_EPOCH, step_at, step_at], "each transfer has the time of its step");
    let transfers = times.len();
    let entry = fixture.changes.journal_entries[0].clone();
    fixture.facts.distributions.insert(id, Some(DistributionStep::Return { entry, unpaid: 0 }));
    assert_eq!(fixture.decide_command(PROVIDER, &command).unwrap(), Some(0));
    assert_eq!(fixture.book.transfers().len(), transfers, "nothing is left to return");
    fixture.facts.distributions.insert(id, None);
    assert_eq!(needed_accounts(&fixture, id), BTreeSet::new());
    assert_eq!(fixture.decide_command(PROVIDER, &ContinueDistribution(id)).unwrap(), None);
}

#[test]
fn a_date_of_a_schedule_is_paid_once_and_the_next_one_follows() {
    let (mut fixture, users) = two_users();
    let schedule_as_read = weekly_schedule();
    let command = RunDistribution {
        schedule: Some(schedule_as_read.clone()),
        ..new_distribution(WalletType::User, 5, Recipients::All(users.to_vec()))
    };
    let mut decide = |schedule: &Schedule, is_paid| {
        let found = ScheduleFacts { schedule: schedule.clone(), is_paid };
        fixture.facts.schedules.insert(schedule.id, Some(found));
        fixture.decide_command(PROVIDER, &command).map(|done| done.users)
    };
    assert_eq!(decide(&schedule_as_read, false).unwrap(), 2);
    assert_eq!(decide(&schedule_as_read, true).unwrap(), 0, "the journal already has the date");
    let changed = Schedule { points: points(6), ..schedule_as_read.clone() };
    assert!(matches!(expect_refusal(decide(&changed, false)), DistributeError::ScheduleChanged));
    let next: Vec<IsoDate> = fixture.changes.schedules.iter().map(|schedule| schedule.next_on).collect();
    assert_eq!(next, [IsoDate::parse("2026-01-15").unwrap(); 2]);
    assert_eq!(fixture.changes.journal_entries.len(), 1);
}
