//! The reserve: deposits, and the alert when it runs low.

use super::env::{TestEnv, email, points, user_profile};
use crate::companies::UpdateCompany;
use crate::recognitions::Sender;
use crate::reserve::{self, ReserveError};
use crate::values::{CompanyId, Update};

const OWNER: &str = "owner@example.com";

fn with_alert_threshold(count: i64) -> UpdateCompany {
    UpdateCompany { reserve_alert: Update::Set(points(count)), ..UpdateCompany::default() }
}

pub(super) fn a_deposit_increases_the_reserve(env: &TestEnv<'_>) {
    assert_eq!(env.reserve_points(), 0);
    assert_eq!(env.deposit(100).unwrap(), 100);
    assert_eq!(env.deposit(1).unwrap(), 101);
    assert!(matches!(env.deposit(0), Err(ReserveError::DepositOutOfRange)));
    let absent = CompanyId::from_uuid(env.new_uuid());
    assert!(matches!(env.deposit_to(absent, 1), Err(ReserveError::NoSuchCompany)));
    let shown = env.transaction(|tx| reserve::read_balance(tx, absent));
    assert!(matches!(shown, Err(ReserveError::NoSuchCompany)));
    assert_eq!(env.reserve_points(), 101);
}

pub(super) fn the_deposits_of_a_company_are_limited_in_total(env: &TestEnv<'_>) {
    env.set_rate(1);
    let ann = env.create_user("ann");
    assert!(matches!(env.deposit(9_000_000_001), Err(ReserveError::DepositOutOfRange)));
    assert!(matches!(env.deposit(i64::MAX), Err(ReserveError::DepositOutOfRange)));
    assert_eq!(env.deposit(9_000_000_000).unwrap(), 9_000_000_000);
    env.send_points(Sender::Company(env.company), &[ann], 5_000).unwrap();
    assert!(
        matches!(env.deposit(1), Err(ReserveError::DepositOutOfRange)),
        "points that have left the reserve still count"
    );
    assert_eq!(env.reserve_points(), 8_999_995_000);
}

pub(super) fn each_crossing_of_the_threshold_alerts_every_administrator_once(env: &TestEnv<'_>) {
    env.deposit(100).unwrap();
    let bcc = Update::Set(email("bcc@example.com"));
    env.update_company(&UpdateCompany { reserve_bcc: bcc, ..with_alert_threshold(50) }).unwrap();
    let admin = |name: &str| {
        let mut profile = user_profile(name);
        profile.company_admin = true;
        env.create_user_from(&profile).id
    };
    let ann = env.create_user("ann");
    admin("boss");
    env.delete_user(admin("former")).unwrap();
    let check = |give: i64, mails: usize, why: &str| {
        env.send_points(Sender::Company(env.company), &[ann], give).unwrap();
        for recipient in [OWNER, "boss@example.com", "bcc@example.com"] {
            assert_eq!(env.store.count_notifications(recipient), mails, "{why}: {recipient}");
        }
    };
    check(50, 0, "50 is not below 50");
    check(1, 1, "a crossing");
    check(1, 1, "already below");
    env.deposit(2).unwrap();
    check(1, 2, "a second crossing");
    assert_eq!(
        env.store.count_notifications("former@example.com")
            + env.store.count_notifications("ann@example.com"),
        0
    );
    // A refused recognition queues no alert.
    env.deposit(51).unwrap();
    let refused = env.send_points(Sender::Company(env.company), &[ann], 101);
    assert!(refused.is_err());
    check(1, 2, "not below");
}

pub(super) fn a_new_threshold_or_rate_alerts_if_the_reserve_is_below(env: &TestEnv<'_>) {
    env.deposit(100).unwrap();
    let check = |update: &UpdateCompany, mails: usize, why: &str| {
        env.update_company(update).unwrap();
        assert_eq!(env.store.count_notifications(OWNER), mails, "{why}");
    };
    check(&with_alert_threshold(100), 0, "not below");
    check(&with_alert_threshold(101), 1, "without a threshold, the reserve was not low");
    check(&with_alert_threshold(200), 1, "it was below already");
    check(&UpdateCompany { reserve_alert: Update::Clear, ..UpdateCompany::default() }, 1, "none");
    check(&with_alert_threshold(100), 1, "not below");
    env.set_rate(25);
    assert_eq!(
        env.store.count_notifications(OWNER),
        2,
        "a new rate can take the reserve below the threshold"
    );
}

pub(super) fn a_reserve_that_just_shows_the_threshold_is_not_low(env: &TestEnv<'_>) {
    env.set_rate(10_000);
    env.deposit(9_999).unwrap();
    env.set_rate(1); // the reserve is a hundredth of a cent short of a dollar, the most that is tolerated
    assert_eq!(env.reserve_points(), 1);
    for (threshold, mails) in [(1, 0), (2, 1)] {
        env.update_company(&with_alert_threshold(threshold)).unwrap();
        assert_eq!(env.store.count_notifications(OWNER), mails, "threshold {threshold}");
    }
}

pub(super) fn every_reserve_is_below_a_threshold_above_every_amount(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    env.deposit(100).unwrap();
    env.update_company(&with_alert_threshold(i64::MAX)).unwrap();
    assert_eq!(env.store.count_notifications(OWNER), 1);
    env.send_points(Sender::Company(env.company), &[ann], 100).unwrap();
    assert_eq!(env.store.count_notifications(OWNER), 1);
}
