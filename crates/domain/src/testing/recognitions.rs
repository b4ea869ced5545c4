//! Recognitions: who may send what to whom, and which events are queued.

use super::world::{World, page, profile};
use crate::companies;
use crate::events::EventKind;
use crate::occasions::{self, UpdateOccasion};
use crate::ports::{Denied, Role};
use crate::recognitions::{
    self, Recognition, SendError, SendFault, SendRecognition, Sender, UpdateRecognition,
    UpdateRecognitionError,
};
use crate::values::{CompanyId, Message, OccasionId, RecognitionId, UserId};
use crate::wallets::{Account, WalletType};

fn faults(sent: Result<Vec<Recognition>, SendError>) -> Vec<SendFault> {
    match sent {
        Err(SendError::Faults(faults)) => faults,
        other => panic!("{other:?}"),
    }
}

pub(super) fn each_receiver_gets_a_recognition_and_an_event(world: &World<'_>) {
    let users: Vec<UserId> = (0..5).map(|number| world.user(&format!("u{number}"))).collect();
    world.deposit(100).unwrap();
    let sent = world.send(&world.command(&users)).unwrap();
    assert_eq!(
        sent.iter().map(|recognition| recognition.receiver_id).collect::<Vec<_>>(),
        users,
        "in the order of the receivers"
    );
    assert!(
        sent.iter().all(|recognition| recognition.message.as_str() == "Thank you"),
        "the occasion's default"
    );
    assert_eq!(world.bench.events(EventKind::RecognitionReceived), 5);
    for recognition in &sent {
        assert_eq!(world.read(|tx| tx.recognition(recognition.id)).as_ref(), Some(recognition));
    }
    assert_eq!(world.reserve(), 50);
}

pub(super) fn recognitions_are_listed_newest_first(world: &World<'_>) {
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    world.fund(WalletType::Peer, ann, 10);
    let ids: Vec<RecognitionId> =
        (0..3).map(|_| world.give(Sender::User(ann), &[bob], 1).unwrap()[0].id).collect();
    for (user, role) in [(ann, Role::Sender), (bob, Role::Receiver)] {
        let listed = |number| {
            let found = world.read(|tx| tx.recognitions(user, role, page(number, 2)));
            found.iter().map(|recognition| recognition.id).collect::<Vec<_>>()
        };
        assert_eq!((listed(1), listed(2)), (vec![ids[2], ids[1]], vec![ids[0]]));
        assert_eq!(world.read(|tx| tx.recognition_count(user, role)), 3);
    }
    assert_eq!(world.read(|tx| tx.recognition_count(ann, Role::Receiver)), 0);
}

pub(super) fn sender_receivers_and_occasion_belong_to_the_provider(world: &World<'_>) {
    let (_, foreign, theirs) = world.foreign();
    let ann = world.user("ann");
    world.deposit(100).unwrap();
    let denied = |command: &SendRecognition| match world.send(command) {
        Err(SendError::Denied(denied) | SendError::Receiver(_, denied)) => denied,
        other => panic!("{other:?}"),
    };
    let occasion = |occasion_id| denied(&SendRecognition { occasion_id, ..world.command(&[ann]) });
    assert_eq!(occasion(OccasionId::from_uuid(world.uuid())), Denied::Absent("occasion_id"));
    assert_eq!(occasion(theirs.id), Denied::Foreign("occasion_id"));
    let sender = |sender| denied(&SendRecognition { sender, ..world.command(&[ann]) });
    assert_eq!(sender(Sender::User(UserId::from_uuid(world.uuid()))), Denied::Absent("sender_id"));
    assert_eq!(sender(Sender::User(foreign.company.owner_id)), Denied::Foreign("sender_id"));
    assert_eq!(sender(Sender::Company(CompanyId::from_uuid(world.uuid()))), Denied::Absent("sender_id"));
    assert_eq!(sender(Sender::Company(foreign.company.id)), Denied::Foreign("sender_id"));
    let to = |id| denied(&world.command(&[ann, id]));
    assert_eq!(to(UserId::from_uuid(world.uuid())), Denied::Absent("receiver_ids"));
    assert_eq!(to(foreign.company.owner_id), Denied::Foreign("receiver_ids"));
    assert_eq!((world.reserve(), world.bench.events(EventKind::RecognitionReceived)), (100, 0));
}

pub(super) fn every_broken_rule_is_reported(world: &World<'_>) {
    let other = world.create_company(world.provider, &super::world::company("other.example.com")).company;
    let (ann, gone) = (world.user("ann"), world.user("gone"));
    world.delete(gone).unwrap();
    world.deposit(100).unwrap();
    let off = UpdateOccasion { enabled: Some(false), ..UpdateOccasion::default() };
    let elsewhere = world.occasion_of(other.id, "Elsewhere").id;
    let disable =
        |id| world.transaction(|tx| occasions::update(tx, world.provider, id, &off, &world.context()));
    disable(elsewhere).unwrap();
    let all = SendRecognition {
        occasion_id: elsewhere,
        sender: Sender::User(gone),
        points_per_receiver: -1,
        ..world.command(&[ann, gone, other.owner_id])
    };
    let range = crate::money::points_range(world.found().company.rate, false);
    let expected = [
        SendFault::OccasionOfAnotherCompany,
        SendFault::OccasionDisabled,
        SendFault::SenderDeleted,
        SendFault::SenderAmongReceivers,
        SendFault::ReceiverOfAnotherCompany(other.owner_id),
        SendFault::ReceiverDeleted(Some(gone)),
        SendFault::PointsOutOfRange(range),
    ];
    assert_eq!(faults(world.send(&all)), expected);
    let to_oneself = world.give(Sender::User(ann), &[ann], 1);
    assert_eq!(faults(to_oneself), [SendFault::SenderAmongReceivers]);
    assert_eq!(world.bench.events(EventKind::RecognitionReceived), 0);
    for user in [ann, gone] {
        assert_eq!(world.read(|tx| tx.recognition_count(user, Role::Receiver)), 0);
        assert_eq!(world.shows(WalletType::User, user), Some((0, 0)));
    }
    assert_eq!(world.reserve(), 100);
}

pub(super) fn the_total_size_of_messages_is_limited(world: &World<'_>) {
    let users: Vec<UserId> = (0..210).map(|number| world.user(&format!("u{number}"))).collect();
    world.deposit(10_000).unwrap();
    let message = Message::parse(&"🎉".repeat(10_000)).ok();
    let sent = |to: &[UserId]| world.send(&SendRecognition { message: message.clone(), ..world.command(to) });
    assert_eq!(faults(sent(&users)), [SendFault::TooLarge]);
    assert_eq!(sent(&users[..3]).unwrap().len(), 3);
}

pub(super) fn zero_points_move_nothing(world: &World<'_>) {
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    assert!(matches!(faults(world.give(Sender::User(ann), &[bob], 0))[..], [SendFault::PointsOutOfRange(_)]));
    let allow = |tx: &mut dyn crate::ports::Ledger| {
        companies::set_allow_zero_points(tx, world.company, true, &world.context())
    };
    world.transaction(allow).unwrap();
    for sender in [Sender::User(ann), Sender::Company(world.company)] {
        assert_eq!(world.give(sender, &[bob], 0).unwrap().len(), 1);
    }
    assert_eq!(world.read(|tx| tx.transactions(Account::Wallet(WalletType::User, bob), page(1, 1))), []);
    assert_eq!(world.bench.events(EventKind::RecognitionReceived), 2);
}

pub(super) fn points_are_within_the_range_of_the_company(world: &World<'_>) {
    let ann = world.user("ann");
    world.deposit(1_000_000).unwrap();
    for out in [i64::MIN, -1, 0, 250_001, i64::MAX] {
        let refused = faults(world.give(Sender::Company(world.company), &[ann], out));
        assert!(matches!(refused[..], [SendFault::PointsOutOfRange(_)]), "{out}");
    }
    for inside in [1, 250_000] {
        world.give(Sender::Company(world.company), &[ann], inside).unwrap();
    }
    assert_eq!(world.shows(WalletType::User, ann), Some((250_001, 0)));
}

pub(super) fn a_changed_recognition_queues_an_event(world: &World<'_>) {
    let ann = world.user_of(&profile("ann")).id;
    world.deposit(100).unwrap();
    let sent = world.send(&world.command(&[ann])).unwrap().remove(0);
    let change = |id, command: &UpdateRecognition| {
        world.transaction(|tx| recognitions::update(tx, id, command, &world.context()))
    };
    let absent = change(RecognitionId::from_uuid(world.uuid()), &UpdateRecognition::default());
    assert!(matches!(absent, Err(UpdateRecognitionError::NoSuchRecognition)));
    let same = UpdateRecognition { message: Some(sent.message.clone()), share: Some(true) };
    assert_eq!(change(sent.id, &same).unwrap(), sent);
    assert_eq!(world.bench.events(EventKind::RecognitionUpdated), 0, "nothing changed");
    let command = UpdateRecognition { message: Message::parse("Thanks again").ok(), share: Some(false) };
    let changed = change(sent.id, &command).unwrap();
    assert_eq!((changed.message.as_str(), changed.share), ("Thanks again", false));
    assert_eq!(world.bench.events(EventKind::RecognitionUpdated), 1);
    assert_eq!(world.read(|tx| tx.recognition(sent.id)), Some(changed));
}
