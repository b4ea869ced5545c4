use uuid::Uuid;

use super::*;
use crate::fixture::{
    COMPANY, Fixture, OCCASION, PROVIDER, expect_not_loaded, expect_refusal, points, user_id,
};
use crate::model::Notification;
use crate::money::{Amount, PointsPerDollar};

fn send_command(sender: Sender, receivers: &[UserId], points: i64) -> SendRecognition {
    let ids: Vec<String> = receivers.iter().map(ToString::to_string).collect();
    SendRecognition {
        occasion_id: OCCASION,
        sender,
        receivers: Receivers::parse(&ids.join(",")).unwrap(),
        points_per_receiver: points,
        message: None,
        share: true,
    }
}

fn send_recognition(
    fixture: &mut Fixture,
    command: &SendRecognition,
) -> Result<Vec<Recognition>, DecideError<SendError>> {
    fixture.decide_command(PROVIDER, command)
}

fn expect_faults(fixture: &mut Fixture, command: &SendRecognition) -> Vec<SendFault> {
    match expect_refusal(send_recognition(fixture, command)) {
        SendError::Faults(faults) => faults,
        other => panic!("{other:?}"),
    }
}

fn wallet_of(wallet: WalletType, id: UserId) -> Account {
    Account::Wallet(wallet, id)
}

/// A sender with 10 points to send, and a receiver.
fn two_users() -> (Fixture, UserId, UserId) {
    let mut fixture = Fixture::new(50);
    let sender = fixture.add_user(1, &[0, 10]);
    let receiver = fixture.add_user(2, &[0, 0]);
    (fixture, sender, receiver)
}

#[test]
fn a_recognition_moves_points_and_records_an_entry_and_an_event() {
    let (mut fixture, sender, receiver) = two_users();
    let sent = send_recognition(&mut fixture, &send_command(Sender::User(sender), &[receiver], 4)).unwrap();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].message.as_str(), "Thank you");
    assert_eq!(fixture.shown_points(wallet_of(WalletType::Peer, sender)), 6);
    assert_eq!(fixture.shown_points(wallet_of(WalletType::User, receiver)), 4);
    let changes = &fixture.changes;
    assert_eq!((changes.journal_entries.len(), changes.events.len(), changes.notifications.len()), (1, 1, 0));
    assert_eq!(changes.recognitions, [(changes.journal_entries[0].id, 1, sent[0].clone())]);
    assert!(changes.events[0].addressed);
    assert_eq!(fixture.book.transfers().len(), 1);
}

#[test]
fn absent_and_foreign_ids_are_denied() {
    let (mut fixture, sender, receiver) = two_users();
    let elsewhere = CompanyId::from_uuid(Uuid::from_u128(9));
    fixture.add_company(elsewhere, ProviderId::from_uuid(Uuid::from_u128(8)), 50);
    let foreign = fixture.add_user(3, &[0, 0]);
    fixture.user_mut(foreign).company_id = elsewhere;
    let absent = user_id(99);
    fixture.facts.users.insert(absent, None);
    fixture.facts.occasions.insert(OccasionId::from_uuid(Uuid::from_u128(7)), None);
    let denied = |fixture: &mut Fixture, command: &SendRecognition| match expect_refusal(send_recognition(
        fixture, command,
    )) {
        SendError::Denied(DeniedReference { denied, .. }) | SendError::Receiver(_, denied) => denied,
        other => panic!("{other:?}"),
    };
    let no_occasion = SendRecognition {
        occasion_id: OccasionId::from_uuid(Uuid::from_u128(7)),
        ..send_command(Sender::User(sender), &[receiver], 1)
    };
    assert_eq!(denied(&mut fixture, &no_occasion), Denied::Absent("occasion_id"));
    for (from, to, expected) in [
        (Sender::User(absent), receiver, Denied::Absent("sender_id")),
        (Sender::User(foreign), receiver, Denied::Foreign("sender_id")),
        (Sender::Company(elsewhere), receiver, Denied::Foreign("sender_id")),
        (Sender::User(sender), absent, Denied::Absent("receiver_ids")),
        (Sender::User(sender), foreign, Denied::Foreign("receiver_ids")),
    ] {
        assert_eq!(denied(&mut fixture, &send_command(from, &[to], 1)), expected);
    }
    assert!(fixture.changes.is_empty());
}

#[test]
fn all_broken_rules_are_reported() {
    let (mut fixture, sender, receiver) = two_users();
    let other = CompanyId::from_uuid(Uuid::from_u128(9));
    fixture.add_company(other, PROVIDER, 50);
    let of_other = fixture.add_user(3, &[0, 0]);
    fixture.user_mut(of_other).company_id = other;
    let deleted = fixture.add_user(4, &[0, 0]);
    fixture.user_mut(deleted).active = false;
    let range = points_range(PointsPerDollar::DEFAULT, false);
    let check = |fixture: &mut Fixture, from: UserId, to: &[UserId], count, expected: &[SendFault]| {
        assert_eq!(expect_faults(fixture, &send_command(Sender::User(from), to, count)), expected);
    };
    check(&mut fixture, sender, &[sender], 1, &[SendFault::SenderAmongReceivers]);
    check(&mut fixture, sender, &[of_other], 1, &[SendFault::ReceiverOfAnotherCompany(of_other)]);
    check(&mut fixture, sender, &[deleted], 1, &[SendFault::ReceiverDeleted(Some(deleted))]);
    check(&mut fixture, deleted, &[receiver], 1, &[SendFault::SenderDeleted]);
    for count in [i64::MIN, -1, 0, 250_001, i64::MAX] {
        check(&mut fixture, sender, &[receiver], count, &[SendFault::PointsOutOfRange(range)]);
    }
    let large = SendRecognition {
        message: Some(Message::parse(&"x".repeat(10_000)).unwrap()),
        ..send_command(Sender::User(sender), &(100..1_000).map(user_id).collect::<Vec<_>>(), 1)
    };
    for number in 100..1_000 {
        fixture.add_user(number, &[0]);
    }
    assert_eq!(expect_faults(&mut fixture, &large), [SendFault::TooLarge]);
    fixture.facts.occasions.get_mut(&OCCASION).unwrap().as_mut().unwrap().1.enabled = false;
    let both = [SendFault::OccasionDisabled, SendFault::SenderAmongReceivers];
    check(&mut fixture, sender, &[sender], 1, &both);
    fixture.add_occasion(OCCASION, Some((other, PROVIDER)));
    check(&mut fixture, sender, &[receiver], 1, &[SendFault::OccasionOfAnotherCompany]);
}

#[test]
fn the_peer_wallet_pays_alone_or_a_managers_wallet_does() {
    let mut fixture = Fixture::new(50);
    let manager = fixture.add_user(1, &[100, 5, 20]);
    let plain = fixture.add_user(2, &[100, 5]);
    let receivers = [fixture.add_user(3, &[0, 0]), fixture.add_user(4, &[0, 0])];
    let peer = wallet_of(WalletType::Peer, manager);
    let managers = wallet_of(WalletType::Manager, manager);
    send_recognition(&mut fixture, &send_command(Sender::User(manager), &receivers, 2)).unwrap();
    assert_eq!((fixture.shown_points(peer), fixture.shown_points(managers)), (1, 20));
    send_recognition(&mut fixture, &send_command(Sender::User(manager), &receivers, 10)).unwrap();
    assert_eq!((fixture.shown_points(peer), fixture.shown_points(managers)), (1, 0));
    for (from, each) in [(manager, 1), (plain, 3)] {
        let refused = expect_refusal(send_recognition(
            &mut fixture,
            &send_command(Sender::User(from), &receivers, each),
        ));
        assert!(matches!(refused, SendError::InsufficientFunds), "{refused:?}");
    }
    fixture.user_mut(plain).manager = true;
    let needed =
        expect_not_loaded(send_recognition(&mut fixture, &send_command(Sender::User(plain), &receivers, 3)));
    assert_eq!(needed, LedgerError::AccountNotLoaded(wallet_of(WalletType::Manager, plain)));
}

#[test]
fn the_rounding_account_covers_a_fraction_of_a_point() {
    let mut fixture = Fixture::new(6);
    let sender = fixture.add_user(1, &[0]);
    let peer = wallet_of(WalletType::Peer, sender);
    fixture.load_account(peer, Amount::from_nanodollars(1_000_000_000)); // shows six points
    let receivers: Vec<UserId> = (10..16).map(|number| fixture.add_user(number, &[0])).collect();
    let six = send_command(Sender::User(sender), &receivers, 1);
    let rounding = Account::Rounding(COMPANY);
    assert_eq!(
        expect_not_loaded(send_recognition(&mut fixture, &six)),
        LedgerError::AccountNotLoaded(rounding)
    );
    assert!(fixture.changes.is_empty());
    let further = six.further_needs(&fixture.facts).unwrap();
    assert!(further.accounts.contains(&rounding));
    fixture.load_account(rounding, Amount::ZERO);
    send_recognition(&mut fixture, &six).unwrap();
    assert_eq!(fixture.book.account(peer).unwrap().balance, Amount::ZERO);
    assert_eq!(fixture.book.account(peer).unwrap().rounding_shortfall.nanodollars(), 2);
    assert_eq!(fixture.book.account(rounding).unwrap().balance.nanodollars(), -2);
    let seventh = expect_refusal(send_recognition(&mut fixture, &six));
    assert!(matches!(seventh, SendError::InsufficientFunds));
}

#[test]
fn the_reserve_alerts_once_when_it_falls_below_its_threshold() {
    let mut fixture = Fixture::new(50);
    let receiver = fixture.add_user(2, &[0, 0]);
    fixture.set_reserve(100, Some(90));
    let five = send_command(Sender::Company(COMPANY), &[receiver], 5);
    send_recognition(&mut fixture, &five).unwrap();
    send_recognition(&mut fixture, &five).unwrap(); // at the threshold
    assert_eq!(fixture.changes.notifications, []);
    assert_eq!(
        expect_not_loaded(send_recognition(&mut fixture, &five)),
        LedgerError::FactNotLoaded("list of administrators")
    );
    assert_eq!(fixture.shown_points(Account::Reserve(COMPANY)), 90);
    fixture.add_administrator("ada@example.com");
    fixture.add_administrator("ADA@example.com");
    fixture.company_mut().reserve_bcc = Some(crate::values::EmailAddress::parse("pay@example.com").unwrap());
    send_recognition(&mut fixture, &five).unwrap();
    let recipients: Vec<_> =
        fixture.changes.notifications.iter().map(|new| new.recipient.address().to_lowercase()).collect();
    assert_eq!(recipients, ["ada@example.com", "pay@example.com"]);
    let Notification::ReserveLow { balance, .. } = &fixture.changes.notifications[0].notification else {
        panic!("the reserve is low");
    };
    assert_eq!(*balance, points(85));
    send_recognition(&mut fixture, &five).unwrap();
    assert_eq!(fixture.changes.notifications.len(), 2);
}

#[test]
fn a_recognition_of_zero_points_moves_nothing_if_the_company_allows_it() {
    let (mut fixture, sender, receiver) = two_users();
    fixture.company_mut().allow_zero_points = true;
    let none = send_command(Sender::User(sender), &[receiver], 0);
    let sent = send_recognition(&mut fixture, &none).unwrap();
    assert_eq!((sent[0].points, fixture.book.transfers().len()), (points(0), 0));
    assert_eq!((fixture.changes.journal_entries.len(), fixture.changes.events.len()), (1, 1));
}

#[test]
fn a_receiver_whose_wallet_was_closed_meanwhile_counts_as_deleted() {
    let (mut fixture, sender, receiver) = two_users();
    let account = fixture.book.account_mut(wallet_of(WalletType::User, receiver)).unwrap();
    account.closed_at = Some(crate::values::Timestamp::UNIX_EPOCH);
    let one = send_command(Sender::User(sender), &[receiver], 1);
    assert_eq!(expect_faults(&mut fixture, &one), [SendFault::ReceiverDeleted(None)]);
    assert_eq!(fixture.shown_points(wallet_of(WalletType::Peer, sender)), 10);
}

#[test]
fn the_size_of_messages_is_limited_to_eight_mebibytes() {
    let mut fixture = Fixture::new(50);
    fixture.set_reserve(1_000, None);
    let receivers: Vec<UserId> = (1..=257).map(|number| fixture.add_user(number, &[0])).collect();
    let message = Message::parse(&"🎉".repeat(8_192)).ok(); // 32 KiB
    let command =
        |to| SendRecognition { message: message.clone(), ..send_command(Sender::Company(COMPANY), to, 1) };
    assert_eq!(send_recognition(&mut fixture, &command(&receivers[..256])).unwrap().len(), 256);
    assert_eq!(expect_faults(&mut fixture, &command(&receivers)), [SendFault::TooLarge]);
}

#[test]
fn the_size_of_a_command_follows_from_its_receivers_and_its_message() {
    let to = [user_id(1), user_id(2)];
    let without_message = send_command(Sender::Company(COMPANY), &to, 1);
    let message = Message::parse("Thanks").ok();
    let with_message = SendRecognition { message, ..without_message.clone() };
    let many: Vec<UserId> = (1..=1_000).map(user_id).collect();
    assert_eq!(with_message.affected_count(), 2);
    assert_eq!(with_message.message_bytes_max(), 12);
    assert_eq!(without_message.message_bytes_max(), 2 * Message::BYTES_MAX);
    assert_eq!(send_command(Sender::Company(COMPANY), &many, 1).message_bytes_max(), MESSAGES_BYTES_MAX);
}
