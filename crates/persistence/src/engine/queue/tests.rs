use std::sync::Arc;

use guerdon_domain::commands::{Command, Done, Response, Surroundings};
use guerdon_domain::journal::{Actor, By};
use guerdon_domain::memory::{CountedIds, PlainBodies, StillClock};
use guerdon_domain::ports::Timestamp;
use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
use guerdon_domain::users::DeleteUser;
use guerdon_domain::values::{CompanyId, OccasionId, UserId};
use guerdon_domain::wallets::WalletType;
use uuid::Uuid;

use super::*;

const FAST: Worker = Worker::Fast;
const PATIENT: Worker = Worker::Patient { takes_large: false };
const PATIENT_FOR_LARGE: Worker = Worker::Patient { takes_large: true };

struct Nobody;

impl Response for Nobody {
    fn render(&mut self, _done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        Ok((201, Vec::new()))
    }

    fn is_wanted(&self) -> bool {
        false
    }

    fn end(self: Box<Self>, _outcome: Outcome) {}
}

fn user(number: u128) -> UserId {
    UserId::from_uuid(Uuid::from_u128(number))
}

fn job(provider: u128, command: Command) -> Job {
    Job::new(Submission {
        command,
        provider: ProviderId::from_uuid(Uuid::from_u128(provider)),
        by: By { actor: Actor::Provider, reference: None, key: None },
        surroundings: Surroundings {
            clock: Arc::new(StillClock(Timestamp::UNIX_EPOCH)),
            ids: Arc::<CountedIds>::default(),
            bodies: Arc::new(PlainBodies),
        },
        repeatable: None,
        response: Box::new(Nobody),
    })
}

/// A recognition by a user of a provider to other users.
fn sending(provider: u128, from: u128, to: &[u128]) -> Job {
    let receivers: Vec<String> = to.iter().map(|receiver| user(*receiver).to_string()).collect();
    job(
        provider,
        Command::SendRecognition(SendRecognition {
            occasion_id: OccasionId::from_uuid(Uuid::from_u128(1)),
            sender: Sender::User(user(from)),
            receivers: Receivers::parse(&receivers.join(",")).unwrap(),
            points_per_receiver: 1,
            message: None,
            share: true,
        }),
    )
}

/// A queue with recognitions of one provider, each from one user to another.
fn queue(pairs: &[(u128, u128)]) -> Queue {
    let mut queue = Queue::new(true);
    for (from, to) in pairs {
        assert!(queue.push(sending(1, *from, &[*to])).is_ok());
    }
    queue
}

/// The senders of a batch.
fn senders(batch: Option<&TakenJobs>) -> Vec<u128> {
    let sender = |job: &Job| match &job.submission.command {
        Command::SendRecognition(command) => command.sender.id().as_u128(),
        Command::DeleteUser(deletion) => deletion.0.as_uuid().as_u128(),
        other => panic!("{other:?}"),
    };
    batch.map(|batch| batch.jobs.iter().map(sender).collect()).unwrap_or_default()
}

/// Adds as many commands without common accounts as a second fast worker waits for.
fn fill(queue: &mut Queue) {
    for number in 0..u128::try_from(SECOND_BATCH_MIN).unwrap() {
        assert!(queue.push(sending(1, 1_000 + number, &[2_000 + number])).is_ok());
    }
}

#[test]
fn batches_at_work_share_no_account() {
    let mut queue = queue(&[(1, 2)]);
    let first = queue.take(FAST).unwrap();
    fill(&mut queue);
    for (from, to) in [(3, 2), (4, 5), (1, 6), (7, 5)] {
        assert!(queue.push(sending(1, from, &[to])).is_ok());
    }
    let second = queue.take(FAST).unwrap();
    assert_eq!(senders(Some(&second))[SECOND_BATCH_MIN..], [4, 7]);
    queue.free(FAST, &first.accounts);
    queue.free(FAST, &second.accounts);
    assert_eq!(senders(queue.take(FAST).as_ref()), [3, 1]);
    assert_eq!(queue.waits(), (false, false));
}

#[test]
fn a_second_batch_waits_until_it_is_worth_it() {
    let mut queue = queue(&[(1, 2)]);
    let first = queue.take(FAST).unwrap();
    assert!(queue.push(sending(1, 3, &[4])).is_ok());
    assert!(queue.take(FAST).is_none());
    queue.free(FAST, &first.accounts);
    let alone = queue.take(FAST).unwrap();
    assert_eq!(senders(Some(&alone)), [3]);
    fill(&mut queue);
    assert_eq!(queue.take(FAST).unwrap().jobs.len(), SECOND_BATCH_MIN);
}

#[test]
fn a_batch_holds_so_many_and_providers_take_turns() {
    let mut queue = Queue::new(true);
    for number in 0..40 {
        assert!(queue.push(sending(1, 100 + number, &[200 + number])).is_ok());
    }
    for provider in [2, 3] {
        assert!(queue.push(sending(provider, provider, &[10 * provider])).is_ok());
    }
    let batch = queue.take(FAST).unwrap();
    assert_eq!(batch.jobs.len(), COMMANDS_MAX);
    assert_eq!(senders(Some(&batch))[..4], [100, 2, 3, 101]);
    queue.free(FAST, &batch.accounts);
    assert_eq!(senders(queue.take(FAST).as_ref()), (130..140).collect::<Vec<_>>());
}

#[test]
fn what_waits_for_a_lock_goes_with_those_that_want_the_same_and_holds_up_no_others() {
    let mut queue = queue(&[(1, 2), (3, 4)]);
    let batch = queue.take(FAST).unwrap();
    queue.push_again(batch.jobs.into_iter().take(1).collect());
    queue.free(FAST, &batch.accounts);
    for (from, to) in [(1, 5), (6, 7)] {
        assert!(queue.push(sending(1, from, &[to])).is_ok());
    }
    assert_eq!(senders(queue.take(FAST).as_ref()), [6], "the other waits behind it");
    let patient = queue.take(PATIENT).unwrap();
    assert_eq!(senders(Some(&patient)), [1]);
    assert!(queue.take(PATIENT).is_none());
    queue.free(PATIENT, &patient.accounts);
    queue.fast_at_work = 0;
    assert_eq!(senders(queue.take(FAST).as_ref()), [1]);
}

#[test]
fn large_commands_and_those_that_lock_users_are_patient_and_large_ones_are_alone() {
    let mut queue = Queue::new(true);
    let large: Vec<u128> = (100..100 + 1 + u128::try_from(SHARED_BATCH_SIZE_MAX).unwrap()).collect();
    for from in [1, 2] {
        assert!(matches!(queue.push(sending(1, from, &large)), Ok(Lane::Patient)));
    }
    assert!(matches!(queue.push(job(1, Command::DeleteUser(DeleteUser(user(9))))), Ok(Lane::Patient)));
    assert_eq!(senders(queue.take(PATIENT).as_ref()), [9]);
    assert!(queue.take(PATIENT).is_none(), "another worker takes the large ones");
    let batch = queue.take(PATIENT_FOR_LARGE).unwrap();
    assert_eq!(senders(Some(&batch)), [1]);
    assert!(queue.take(PATIENT_FOR_LARGE).is_none(), "the other one has the same receivers");
    queue.free(PATIENT_FOR_LARGE, &batch.accounts);
    assert_eq!(senders(queue.take(PATIENT_FOR_LARGE).as_ref()), [2]);
}

#[test]
fn without_locks_large_commands_keep_their_turn() {
    let mut queue = Queue::new(false);
    let large: Vec<u128> = (100..200).collect();
    for (from, to) in [(1, &[50][..]), (2, &large), (3, &[51])] {
        assert!(matches!(queue.push(sending(1, from, to)), Ok(Lane::Fast)));
    }
    for expected in [vec![1, 3], vec![2]] {
        let batch = queue.take(FAST).unwrap();
        assert_eq!(senders(Some(&batch)), expected);
        queue.free(FAST, &batch.accounts);
    }
}

#[test]
fn too_many_are_given_back_and_those_that_waited_too_long_are_taken_out() {
    let mut queue = Queue::new(true);
    for number in 0..WAITING_MAX_OF_PROVIDER {
        assert!(queue.push(sending(1, 1, &[2 + u128::try_from(number).unwrap()])).is_ok());
    }
    assert!(queue.push(sending(1, 1, &[2])).is_err());
    assert!(queue.push(sending(2, 1, &[2])).is_ok(), "another provider has room");
    assert!(queue.push(job(3, Command::DeleteUser(DeleteUser(user(1))))).is_ok());
    let now = Instant::now();
    assert!(queue.take_late(now).is_empty());
    assert_eq!(queue.take_late(now + Deadlines::REQUEST.begin * 2).len(), WAITING_MAX_OF_PROVIDER + 2);
    assert_eq!((queue.waits(), queue.turns.len()), ((false, false), 0));
    queue.close();
    assert!(queue.is_done());
    assert!(queue.push(sending(1, 1, &[2])).is_err());
}

#[test]
fn a_provider_with_many_patient_commands_leaves_others_their_turn_and_their_room() {
    let mut queue = Queue::new(true);
    for number in 0..u128::try_from(WAITING_MAX_OF_PROVIDER).unwrap() {
        assert!(queue.push(job(1, Command::DeleteUser(DeleteUser(user(10 + number))))).is_ok());
    }
    assert!(queue.push(job(1, Command::DeleteUser(DeleteUser(user(1))))).is_err());
    assert!(queue.push(job(2, Command::DeleteUser(DeleteUser(user(2))))).is_ok());
    let taken: Vec<_> = (0..3).map(|_| senders(queue.take(PATIENT).as_ref())).collect();
    assert_eq!(taken, [[10], [2], [11]]);
}

#[test]
fn a_company_that_sends_pays_from_its_reserve() {
    let mut sent = sending(1, 1, &[2]);
    if let Command::SendRecognition(command) = &mut sent.submission.command {
        command.sender = Sender::Company(CompanyId::from_uuid(Uuid::from_u128(77)));
    }
    let needs = Job::new(sent.submission).needs;
    let reserve = Account::Reserve(CompanyId::from_uuid(Uuid::from_u128(77)));
    assert_eq!(needs.accounts, BTreeSet::from([Account::Wallet(WalletType::User, user(2)), reserve]));
}
