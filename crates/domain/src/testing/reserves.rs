//! The reserve: deposits, and the alert when it runs low.

use super::world::{World, email, points, profile};
use crate::companies::UpdateCompany;
use crate::recognitions::Sender;
use crate::reserve::{self, ReserveError};
use crate::values::{CompanyId, Update};

const OWNER: &str = "owner@example.com";

fn threshold(count: i64) -> UpdateCompany {
    UpdateCompany { reserve_alert: Update::Set(points(count)), ..UpdateCompany::default() }
}

pub(super) fn a_deposit_increases_the_reserve(world: &World<'_>) {
    assert_eq!(world.reserve(), 0);
    assert_eq!(world.deposit(100).unwrap(), 100);
    assert_eq!(world.deposit(1).unwrap(), 101);
    assert!(matches!(world.deposit(0), Err(ReserveError::DepositOutOfRange)));
    let absent = CompanyId::from_uuid(world.uuid());
    assert!(matches!(world.deposit_to(absent, 1), Err(ReserveError::NoSuchCompany)));
    let shown = world.transaction(|tx| reserve::shown(tx, absent));
    assert!(matches!(shown, Err(ReserveError::NoSuchCompany)));
    assert_eq!(world.reserve(), 101);
}

pub(super) fn the_deposits_of_a_company_are_limited_in_total(world: &World<'_>) {
    world.set_rate(1);
    let ann = world.user("ann");
    assert!(matches!(world.deposit(9_000_000_001), Err(ReserveError::DepositOutOfRange)));
    assert!(matches!(world.deposit(i64::MAX), Err(ReserveError::DepositOutOfRange)));
    assert_eq!(world.deposit(9_000_000_000).unwrap(), 9_000_000_000);
    world.give(Sender::Company(world.company), &[ann], 5_000).unwrap();
    assert!(
        matches!(world.deposit(1), Err(ReserveError::DepositOutOfRange)),
        "whatever has left the reserve since"
    );
    assert_eq!(world.reserve(), 8_999_995_000);
}

pub(super) fn each_crossing_of_the_threshold_alerts_every_administrator_once(world: &World<'_>) {
    world.deposit(100).unwrap();
    let bcc = Update::Set(email("bcc@example.com"));
    world.update(&UpdateCompany { reserve_bcc: bcc, ..threshold(50) }).unwrap();
    let admin = |name: &str| {
        let mut profile = profile(name);
        profile.company_admin = true;
        world.user_of(&profile).id
    };
    let ann = world.user("ann");
    admin("boss");
    world.delete(admin("former")).unwrap();
    let check = |give: i64, mails: usize, why: &str| {
        world.give(Sender::Company(world.company), &[ann], give).unwrap();
        for recipient in [OWNER, "boss@example.com", "bcc@example.com"] {
            assert_eq!(world.bench.mails(recipient), mails, "{why}: {recipient}");
        }
    };
    check(50, 0, "50 is not below 50");
    check(1, 1, "a crossing");
    check(1, 1, "already below");
    world.deposit(2).unwrap();
    check(1, 2, "a crossing of its own");
    assert_eq!(world.bench.mails("former@example.com") + world.bench.mails("ann@example.com"), 0);
    // A refused recognition queues no alert.
    world.deposit(51).unwrap();
    let refused = world.give(Sender::Company(world.company), &[ann], 101);
    assert!(refused.is_err());
    check(1, 2, "not below");
}

pub(super) fn a_new_threshold_or_rate_alerts_if_the_reserve_is_below(world: &World<'_>) {
    world.deposit(100).unwrap();
    let check = |command: &UpdateCompany, mails: usize, why: &str| {
        world.update(command).unwrap();
        assert_eq!(world.bench.mails(OWNER), mails, "{why}");
    };
    check(&threshold(100), 0, "not below");
    check(&threshold(101), 1, "none counts as above");
    check(&threshold(200), 1, "it was below already");
    check(&UpdateCompany { reserve_alert: Update::Clear, ..UpdateCompany::default() }, 1, "none");
    check(&threshold(100), 1, "not below");
    world.set_rate(25);
    assert_eq!(world.bench.mails(OWNER), 2, "a new rate crosses too");
}

pub(super) fn every_reserve_is_below_a_threshold_above_every_amount(world: &World<'_>) {
    let ann = world.user("ann");
    world.deposit(100).unwrap();
    world.update(&threshold(i64::MAX)).unwrap();
    assert_eq!(world.bench.mails(OWNER), 1);
    world.give(Sender::Company(world.company), &[ann], 100).unwrap();
    assert_eq!(world.bench.mails(OWNER), 1);
}
