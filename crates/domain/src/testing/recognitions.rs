//! Recognitions: who may send what to whom, and which events are queued.

use super::env::{TestEnv, page, points, user_profile};
use crate::companies;
use crate::events::EventKind;
use crate::occasions::{self, UpdateOccasion};
use crate::ports::{Denied, DeniedReference, Lookup, Role};
use crate::recognitions::{
    self, DryRun, Recognition, SendError, SendFault, SendRecognition, Sender, UpdateRecognition,
    UpdateRecognitionError,
};
use crate::values::{CompanyId, Message, OccasionId, RecognitionId, UserId, checked_cast};
use crate::wallets::{Account, WalletType};

fn expect_faults(sent: Result<Vec<Recognition>, SendError>) -> Vec<SendFault> {
    match sent {
        Err(SendError::Faults(faults)) => faults,
        other => panic!("{other:?}"),
    }
}

pub(super) fn each_receiver_gets_a_recognition_and_an_event(env: &TestEnv<'_>) {
    let users: Vec<UserId> = (0..5).map(|number| env.create_user(&format!("u{number}"))).collect();
    env.deposit(100).unwrap();
    let sent = env.send_recognition(&env.recognition_command(&users)).unwrap();
    assert_eq!(
        sent.iter().map(|recognition| recognition.receiver_id).collect::<Vec<_>>(),
        users,
        "in the order of the receivers"
    );
    assert!(
        sent.iter().all(|recognition| recognition.message.as_str() == "Thank you"),
        "the occasion's default"
    );
    assert_eq!(env.store.count_events(EventKind::RecognitionReceived), 5);
    for recognition in &sent {
        assert_eq!(
            env.with_tx(|tx| tx.find_recognition_any_provider(recognition.id)).as_ref(),
            Some(recognition)
        );
    }
    assert_eq!(env.reserve_points(), 50);
}

pub(super) fn recognitions_are_listed_newest_first(env: &TestEnv<'_>) {
    let [ann, bob, carl] = ["ann", "bob", "carl"].map(|name| env.create_user(name));
    env.fund_wallet(WalletType::Peer, ann, 10);
    let mut sent: Vec<_> =
        (0..3).flat_map(|_| env.send_points(Sender::User(ann), &[bob, carl], 1).unwrap()).collect();
    sent.sort_unstable_by_key(|recognition| std::cmp::Reverse((recognition.created_at, recognition.id)));
    let ids = |receivers: &[UserId]| -> Vec<RecognitionId> {
        sent.iter().filter(|sent| receivers.contains(&sent.receiver_id)).map(|sent| sent.id).collect()
    };
    for (user, role, expected) in [(ann, Role::Sender, ids(&[bob, carl])), (bob, Role::Receiver, ids(&[bob]))]
    {
        let list = |number| env.with_tx(|tx| tx.list_recognitions(user, role, page(number, 2)));
        let listed: Vec<_> = (1..=4).flat_map(list).map(|recognition| recognition.id).collect();
        assert_eq!(listed, expected);
        assert_eq!(list(1).len(), 2);
        assert_eq!(
            env.with_tx(|tx| tx.count_recognitions(user, role)),
            checked_cast::<i64, _>(expected.len())
        );
    }
    assert_eq!(env.with_tx(|tx| tx.count_recognitions(ann, Role::Receiver)), 0);
}

pub(super) fn sender_receivers_and_occasion_belong_to_the_provider(env: &TestEnv<'_>) {
    let (_, foreign, foreign_occasion) = env.create_foreign_company();
    let ann = env.create_user("ann");
    env.deposit(100).unwrap();
    let denied = |command: &SendRecognition| match env.send_recognition(command) {
        Err(SendError::Denied(DeniedReference { denied, .. }) | SendError::Receiver(_, denied)) => denied,
        other => panic!("{other:?}"),
    };
    let occasion = |occasion_id| denied(&SendRecognition { occasion_id, ..env.recognition_command(&[ann]) });
    assert_eq!(occasion(OccasionId::from_uuid(env.new_uuid())), Denied::Absent("occasion_id"));
    assert_eq!(occasion(foreign_occasion.id), Denied::Foreign("occasion_id"));
    let sender = |sender| denied(&SendRecognition { sender, ..env.recognition_command(&[ann]) });
    assert_eq!(sender(Sender::User(UserId::from_uuid(env.new_uuid()))), Denied::Absent("sender_id"));
    assert_eq!(sender(Sender::User(foreign.company.owner_id)), Denied::Foreign("sender_id"));
    assert_eq!(sender(Sender::Company(CompanyId::from_uuid(env.new_uuid()))), Denied::Absent("sender_id"));
    assert_eq!(sender(Sender::Company(foreign.company.id)), Denied::Foreign("sender_id"));
    let to = |id| denied(&env.recognition_command(&[ann, id]));
    assert_eq!(to(UserId::from_uuid(env.new_uuid())), Denied::Absent("receiver_ids"));
    assert_eq!(to(foreign.company.owner_id), Denied::Foreign("receiver_ids"));
    assert_eq!((env.reserve_points(), env.store.count_events(EventKind::RecognitionReceived)), (100, 0));
}

pub(super) fn every_broken_rule_is_reported(env: &TestEnv<'_>) {
    let other = env.create_company(env.provider, &super::env::company_command("other.example.com")).company;
    let (ann, deleted) = (env.create_user("ann"), env.create_user("gone"));
    env.delete_user(deleted).unwrap();
    env.deposit(100).unwrap();
    let off = UpdateOccasion { enabled: Some(false), ..UpdateOccasion::default() };
    let elsewhere = env.create_occasion(other.id, "Elsewhere").id;
    let disable = |id| env.transaction(|tx| occasions::update(tx, env.provider, id, &off, &env.context()));
    disable(elsewhere).unwrap();
    let all = SendRecognition {
        occasion_id: elsewhere,
        sender: Sender::User(deleted),
        points_per_receiver: -1,
        ..env.recognition_command(&[ann, deleted, other.owner_id])
    };
    let range = crate::money::points_range(env.find_company().company.rate, false);
    let expected = [
        SendFault::OccasionOfAnotherCompany,
        SendFault::OccasionDisabled,
        SendFault::SenderDeleted,
        SendFault::SenderAmongReceivers,
        SendFault::ReceiverOfAnotherCompany(other.owner_id),
        SendFault::ReceiverDeleted(Some(deleted)),
        SendFault::PointsOutOfRange(range),
    ];
    assert_eq!(expect_faults(env.send_recognition(&all)), expected);
    let to_oneself = env.send_points(Sender::User(ann), &[ann], 1);
    assert_eq!(expect_faults(to_oneself), [SendFault::SenderAmongReceivers]);
    assert_eq!(env.store.count_events(EventKind::RecognitionReceived), 0);
    for user in [ann, deleted] {
        assert_eq!(env.with_tx(|tx| tx.count_recognitions(user, Role::Receiver)), 0);
        assert_eq!(env.wallet_points(WalletType::User, user), Some((0, 0)));
    }
    assert_eq!(env.reserve_points(), 100);
}

pub(super) fn the_total_size_of_messages_is_limited(env: &TestEnv<'_>) {
    let users: Vec<UserId> = (0..210).map(|number| env.create_user(&format!("u{number}"))).collect();
    env.deposit(10_000).unwrap();
    let message = Message::parse(&"🎉".repeat(10_000)).ok();
    let sent = |to: &[UserId]| {
        env.send_recognition(&SendRecognition { message: message.clone(), ..env.recognition_command(to) })
    };
    assert_eq!(expect_faults(sent(&users)), [SendFault::TooLarge]);
    assert_eq!(sent(&users[..3]).unwrap().len(), 3);
}

pub(super) fn a_dry_run_returns_the_effects_and_moves_nothing(env: &TestEnv<'_>) {
    let mut profile = user_profile("manager");
    profile.manager = true;
    let manager = env.create_user_from(&profile).id;
    let to = [env.create_user("ann"), env.create_user("bob")];
    env.fund_wallet(WalletType::Peer, manager, 5);
    env.fund_wallet(WalletType::Manager, manager, 10);
    let preview = |each: i64| {
        let command = SendRecognition {
            sender: Sender::User(manager),
            points_per_receiver: each,
            ..env.recognition_command(&to)
        };
        env.transaction(|tx| recognitions::dry_run(tx, env.provider, &command, &env.context()))
    };
    let check = |each: i64, wallet: WalletType, remaining: i64| {
        let expected = DryRun {
            payer: Account::Wallet(wallet, manager),
            points: points(2 * each),
            receivers: 2,
            remaining: points(remaining),
            rate: env.find_company().company.rate,
        };
        assert_eq!(preview(each).unwrap(), expected);
    };
    check(2, WalletType::Peer, 1);
    check(4, WalletType::Manager, 2);
    assert!(matches!(preview(6), Err(SendError::InsufficientFunds)));
    assert_eq!(env.wallet_points(WalletType::Manager, manager), Some((10, 0)));
    assert_eq!(env.store.count_events(EventKind::RecognitionReceived), 0);
}

pub(super) fn zero_points_move_nothing(env: &TestEnv<'_>) {
    let (ann, bob) = (env.create_user("ann"), env.create_user("bob"));
    assert!(matches!(
        expect_faults(env.send_points(Sender::User(ann), &[bob], 0))[..],
        [SendFault::PointsOutOfRange(_)]
    ));
    let allow = |tx: &mut dyn crate::ports::LedgerTx| {
        companies::set_allow_zero_points(tx, env.company, true, &env.context())
    };
    env.transaction(allow).unwrap();
    for sender in [Sender::User(ann), Sender::Company(env.company)] {
        assert_eq!(env.send_points(sender, &[bob], 0).unwrap().len(), 1);
    }
    assert_eq!(
        env.with_tx(|tx| tx.list_transactions(Account::Wallet(WalletType::User, bob), page(1, 1))),
        []
    );
    assert_eq!(env.store.count_events(EventKind::RecognitionReceived), 2);
}

pub(super) fn points_are_within_the_range_of_the_company(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    env.deposit(1_000_000).unwrap();
    for out in [i64::MIN, -1, 0, 250_001, i64::MAX] {
        let refused = expect_faults(env.send_points(Sender::Company(env.company), &[ann], out));
        assert!(matches!(refused[..], [SendFault::PointsOutOfRange(_)]), "{out}");
    }
    for inside in [1, 250_000] {
        env.send_points(Sender::Company(env.company), &[ann], inside).unwrap();
    }
    assert_eq!(env.wallet_points(WalletType::User, ann), Some((250_001, 0)));
}

pub(super) fn a_changed_recognition_queues_an_event(env: &TestEnv<'_>) {
    let ann = env.create_user_from(&user_profile("ann")).id;
    env.deposit(100).unwrap();
    let sent = env.send_recognition(&env.recognition_command(&[ann])).unwrap().remove(0);
    let change = |id, update: &UpdateRecognition| {
        env.transaction(|tx| recognitions::update(tx, id, update, &env.context()))
    };
    let absent = change(RecognitionId::from_uuid(env.new_uuid()), &UpdateRecognition::default());
    assert!(matches!(absent, Err(UpdateRecognitionError::NoSuchRecognition)));
    let same = UpdateRecognition { message: Some(sent.message.clone()), share: Some(true) };
    assert_eq!(change(sent.id, &same).unwrap(), sent);
    assert_eq!(env.store.count_events(EventKind::RecognitionUpdated), 0, "nothing changed");
    let update = UpdateRecognition { message: Message::parse("Thanks again").ok(), share: Some(false) };
    let changed = change(sent.id, &update).unwrap();
    assert_eq!((changed.message.as_str(), changed.share), ("Thanks again", false));
    assert_eq!(env.store.count_events(EventKind::RecognitionUpdated), 1);
    assert_eq!(env.with_tx(|tx| tx.find_recognition_any_provider(sent.id)), Some(changed));
    let message = UpdateRecognition { message: Message::parse("Well done").ok(), share: None };
    let share = UpdateRecognition { message: None, share: Some(true) };
    for (update, expected) in [(message, ("Well done", false)), (share, ("Well done", true))] {
        let changed = change(sent.id, &update).unwrap();
        assert_eq!((changed.message.as_str(), changed.share), expected);
    }
    assert_eq!(env.store.count_events(EventKind::RecognitionUpdated), 3);
}

pub(super) fn a_recognition_belongs_to_the_provider_of_its_company(env: &TestEnv<'_>) {
    let (ann, bob) = (env.create_user("ann"), env.create_user("bob"));
    env.fund_wallet(WalletType::Peer, ann, 10);
    let sent = env.send_points(Sender::User(ann), &[bob], 1).unwrap().remove(0);
    let find = |scope, id| env.with_tx(|tx| tx.find_recognition(scope, id));
    assert_eq!(find(env.provider, RecognitionId::from_uuid(env.new_uuid())), Lookup::Absent);
    assert_eq!(find(env.provider, RecognitionId::from_uuid(bob.as_uuid())), Lookup::Absent);
    for user in [ann, bob] {
        env.delete_user(user).unwrap();
        assert_eq!(find(env.provider, sent.id), Lookup::Own(sent.clone()));
    }
    let other = env.create_provider();
    assert_eq!(find(other, sent.id), Lookup::Foreign);
    env.transaction(|tx| companies::transfer_to_provider(tx, env.company, other, &env.context())).unwrap();
    assert_eq!(find(env.provider, sent.id), Lookup::Foreign);
    assert_eq!(find(other, sent.id), Lookup::Own(sent));
}
