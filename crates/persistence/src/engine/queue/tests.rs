use std::sync::Arc;

use guerdon_domain::commands::{Command, ContextSources, Done, Outcome, OutcomeReceiver, Submission};
use guerdon_domain::journal::{Actor, Requester};
use guerdon_domain::memory::{FixedClock, PlainBodies, SequentialIds};
use guerdon_domain::ports::{Deadlines, StoreError, Timestamp};
use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
use guerdon_domain::redemptions::Refund;
use guerdon_domain::users::DeleteUser;
use guerdon_domain::values::{CompanyId, OccasionId, RedemptionId, UserId};
use guerdon_domain::wallets::WalletType;
use uuid::Uuid;

use super::*;
use crate::engine::job::{AFFECTED_IN_SHARED_BATCH_MAX, LARGE_RETRY_PAUSE};

const FAST: Worker = Worker::Fast;
const PATIENT: Worker = Worker::Patient { takes_large: false };
const PATIENT_FOR_LARGE: Worker = Worker::Patient { takes_large: true };

struct DiscardedOutcome;

impl OutcomeReceiver for DiscardedOutcome {
    fn render_response(&mut self, _done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        Ok((201, Vec::new()))
    }

    fn confirm_execution(&self) -> bool {
        false
    }

    fn receive_outcome(self: Box<Self>, _outcome: Outcome) {}
}

fn user_id(number: u128) -> UserId {
    UserId::from_uuid(Uuid::from_u128(number))
}

fn new_job(provider: u128, command: Command) -> Job {
    Job::new(Submission {
        command,
        provider: ProviderId::from_uuid(Uuid::from_u128(provider)),
        requester: Requester { actor: Actor::Provider, reference: None, key: None },
        context_sources: ContextSources {
            clock: Arc::new(FixedClock(Timestamp::UNIX_EPOCH)),
            ids: Arc::<SequentialIds>::default(),
            bodies: Arc::new(PlainBodies),
        },
        idempotent_request: None,
        outcome_receiver: Box::new(DiscardedOutcome),
    })
}

/// A recognition by a user of a provider to other users.
fn recognition_job(provider: u128, from: u128, to: &[u128]) -> Job {
    let receivers: Vec<String> = to.iter().map(|receiver| user_id(*receiver).to_string()).collect();
    new_job(
        provider,
        Command::SendRecognition(SendRecognition {
            occasion_id: OccasionId::from_uuid(Uuid::from_u128(1)),
            sender: Sender::User(user_id(from)),
            receivers: Receivers::parse(&receivers.join(",")).unwrap(),
            points_per_receiver: 1,
            message: None,
            share: true,
        }),
    )
}

/// A queue with recognitions of one provider, each from one user to another.
fn queue_of_pairs(pairs: &[(u128, u128)]) -> JobQueue {
    let mut queue = JobQueue::new(true);
    for (from, to) in pairs {
        assert!(queue.push_job(recognition_job(1, *from, &[*to])).is_ok());
    }
    queue
}

/// The senders of a batch.
fn senders_of_batch(batch: Option<&JobBatch>) -> Vec<u128> {
    let sender = |job: &Job| match &job.submission.command {
        Command::SendRecognition(command) => command.sender.id().as_u128(),
        Command::DeleteUser(deletion) => deletion.0.as_uuid().as_u128(),
        other => panic!("{other:?}"),
    };
    batch.map(|batch| batch.jobs.iter().map(sender).collect()).unwrap_or_default()
}

/// Adds enough commands without common accounts to start a batch on a second fast worker.
fn fill_second_batch(queue: &mut JobQueue) {
    for number in 0..u128::try_from(SECOND_BATCH_COMMANDS_MIN).unwrap() {
        assert!(queue.push_job(recognition_job(1, 1_000 + number, &[2_000 + number])).is_ok());
    }
}

#[test]
fn concurrent_batches_share_no_account() {
    let mut queue = queue_of_pairs(&[(1, 2)]);
    let first = queue.take_batch(FAST).unwrap();
    fill_second_batch(&mut queue);
    for (from, to) in [(3, 2), (4, 5), (1, 6), (7, 5)] {
        assert!(queue.push_job(recognition_job(1, from, &[to])).is_ok());
    }
    let second = queue.take_batch(FAST).unwrap();
    assert_eq!(senders_of_batch(Some(&second))[SECOND_BATCH_COMMANDS_MIN..], [4, 7]);
    queue.release_accounts(FAST, &first.accounts);
    queue.release_accounts(FAST, &second.accounts);
    assert_eq!(senders_of_batch(queue.take_batch(FAST).as_ref()), [3, 1]);
    assert_eq!(queue.waiting_jobs(), WaitingJobs::default());
}

#[test]
fn a_second_batch_waits_for_enough_commands() {
    let mut queue = queue_of_pairs(&[(1, 2)]);
    let first = queue.take_batch(FAST).unwrap();
    assert!(queue.push_job(recognition_job(1, 3, &[4])).is_ok());
    assert!(queue.take_batch(FAST).is_none());
    queue.release_accounts(FAST, &first.accounts);
    let alone = queue.take_batch(FAST).unwrap();
    assert_eq!(senders_of_batch(Some(&alone)), [3]);
    fill_second_batch(&mut queue);
    assert_eq!(queue.take_batch(FAST).unwrap().jobs.len(), SECOND_BATCH_COMMANDS_MIN);
}

#[test]
fn batches_are_limited_and_alternate_between_providers() {
    let mut queue = JobQueue::new(true);
    for number in 0..40 {
        assert!(queue.push_job(recognition_job(1, 100 + number, &[200 + number])).is_ok());
    }
    for provider in [2, 3] {
        assert!(queue.push_job(recognition_job(provider, provider, &[10 * provider])).is_ok());
    }
    let batch = queue.take_batch(FAST).unwrap();
    assert_eq!(batch.jobs.len(), BATCH_COMMANDS_MAX);
    assert_eq!(senders_of_batch(Some(&batch))[..4], [100, 2, 3, 101]);
    queue.release_accounts(FAST, &batch.accounts);
    assert_eq!(senders_of_batch(queue.take_batch(FAST).as_ref()), (130..140).collect::<Vec<_>>());
}

#[test]
fn lock_waiters_are_batched_by_account_and_delay_no_others() {
    let mut queue = queue_of_pairs(&[(1, 2), (3, 4)]);
    let batch = queue.take_batch(FAST).unwrap();
    queue.push_for_retry(batch.jobs.into_iter().take(1).collect());
    queue.release_accounts(FAST, &batch.accounts);
    for (from, to) in [(1, 5), (6, 7)] {
        assert!(queue.push_job(recognition_job(1, from, &[to])).is_ok());
    }
    assert_eq!(senders_of_batch(queue.take_batch(FAST).as_ref()), [6], "the other command waits behind it");
    let patient = queue.take_batch(PATIENT).unwrap();
    assert_eq!(senders_of_batch(Some(&patient)), [1]);
    assert!(queue.take_batch(PATIENT).is_none());
    queue.release_accounts(PATIENT, &patient.accounts);
    queue.busy_fast_workers = 0;
    assert_eq!(senders_of_batch(queue.take_batch(FAST).as_ref()), [1]);
}

#[test]
fn large_and_locking_commands_go_to_patient_workers() {
    let mut queue = JobQueue::new(true);
    let large: Vec<u128> = (100..100 + 1 + u128::try_from(AFFECTED_IN_SHARED_BATCH_MAX).unwrap()).collect();
    for from in [1, 2] {
        assert!(matches!(queue.push_job(recognition_job(1, from, &large)), Ok(Locking::Wait)));
    }
    assert!(matches!(
        queue.push_job(new_job(1, Command::DeleteUser(DeleteUser(user_id(9))))),
        Ok(Locking::Wait)
    ));
    assert_eq!(senders_of_batch(queue.take_batch(PATIENT).as_ref()), [9]);
    assert!(queue.take_batch(PATIENT).is_none(), "another worker takes the large ones");
    let batch = queue.take_batch(PATIENT_FOR_LARGE).unwrap();
    assert_eq!(senders_of_batch(Some(&batch)), [1]);
    assert!(queue.take_batch(PATIENT_FOR_LARGE).is_none(), "the other large command has the same receivers");
    queue.release_accounts(PATIENT_FOR_LARGE, &batch.accounts);
    assert_eq!(senders_of_batch(queue.take_batch(PATIENT_FOR_LARGE).as_ref()), [2]);
}

#[test]
fn large_commands_keep_their_turn_without_locks() {
    let mut queue = JobQueue::new(false);
    let large: Vec<u128> = (100..200).collect();
    for (from, to) in [(1, &[50][..]), (2, &large), (3, &[51])] {
        assert!(matches!(queue.push_job(recognition_job(1, from, to)), Ok(Locking::Skip)));
    }
    for expected in [vec![1, 3], vec![2]] {
        let batch = queue.take_batch(FAST).unwrap();
        assert_eq!(senders_of_batch(Some(&batch)), expected);
        queue.release_accounts(FAST, &batch.accounts);
    }
}

#[test]
fn an_earlier_command_goes_before_large_ones_with_the_same_account() {
    let mut queue = queue_of_pairs(&[(1, 2)]);
    for first in [100, 200] {
        let receivers: Vec<u128> = (first..first + 20).collect();
        assert!(queue.push_job(recognition_job(1, 1, &receivers)).is_ok());
    }
    assert!(queue.push_job(recognition_job(1, 1, &[3])).is_ok());
    assert!(queue.take_batch(PATIENT_FOR_LARGE).is_none(), "the first command goes first");
    for (worker, affected) in [(FAST, 1), (PATIENT_FOR_LARGE, 20), (PATIENT_FOR_LARGE, 20), (FAST, 1)] {
        let others = if worker == FAST { PATIENT_FOR_LARGE } else { FAST };
        assert!(queue.take_batch(others).is_none());
        let batch = queue.take_batch(worker).unwrap();
        assert_eq!(batch.jobs.iter().map(Job::affected_count).collect::<Vec<_>>(), [affected]);
        queue.release_accounts(worker, &batch.accounts);
    }
    assert_eq!(queue.waiting_jobs(), WaitingJobs::default());
}

#[test]
fn every_provider_is_served_before_one_is_served_again() {
    const PROVIDERS: u128 = 100;
    let mut queue = JobQueue::new(true);
    for provider in 1..=PROVIDERS {
        for number in 0..4 {
            let from = 10 * (10 * provider + number);
            assert!(queue.push_job(recognition_job(provider, from, &[from + 1])).is_ok());
        }
    }
    let mut served: HashMap<ProviderId, usize> = HashMap::new();
    for round in 1..=3 {
        while served.values().sum::<usize>() < round * usize::try_from(PROVIDERS).unwrap() {
            let batch = queue.take_batch(FAST).unwrap();
            for job in &batch.jobs {
                *served.entry(job.submission.provider).or_default() += 1;
            }
            queue.release_accounts(FAST, &batch.accounts);
        }
        assert!(served.values().all(|count| (round..=round + 1).contains(count)), "{served:?}");
    }
}

#[test]
fn a_full_queue_rejects_and_expired_commands_are_removed() {
    let mut queue = JobQueue::new(true);
    for number in 0..WAITING_PER_PROVIDER_MAX {
        assert!(queue.push_job(recognition_job(1, 1, &[2 + u128::try_from(number).unwrap()])).is_ok());
    }
    assert!(queue.push_job(recognition_job(1, 1, &[2])).is_err());
    assert!(queue.push_job(recognition_job(2, 1, &[2])).is_ok(), "another provider has room");
    assert!(queue.push_job(new_job(3, Command::DeleteUser(DeleteUser(user_id(1))))).is_ok());
    let now = Instant::now();
    assert!(queue.take_expired(now).is_empty());
    assert_eq!(queue.take_expired(now + Deadlines::START * 2).len(), WAITING_PER_PROVIDER_MAX + 2);
    assert_eq!((queue.waiting_jobs(), queue.provider_order.len()), (WaitingJobs::default(), 0));
    queue.close();
    assert!(queue.is_drained());
    assert!(queue.push_job(recognition_job(1, 1, &[2])).is_err());
}

#[test]
fn a_closed_queue_is_not_drained_while_a_batch_without_accounts_is_in_progress() {
    let mut queue = JobQueue::new(true);
    let refund = Refund(RedemptionId::from_uuid(Uuid::from_u128(1)));
    assert!(matches!(queue.push_job(new_job(1, Command::Refund(refund))), Ok(Locking::Skip)));
    let batch = queue.take_batch(FAST).unwrap();
    assert!(batch.accounts.is_empty());
    queue.close();
    assert!(!queue.is_drained(), "the command may return");
    queue.push_for_retry(batch.jobs);
    queue.release_accounts(FAST, &batch.accounts);
    assert!(!queue.is_drained());
    let batch = queue.take_batch(PATIENT).unwrap();
    queue.release_accounts(PATIENT, &batch.accounts);
    assert!(queue.is_drained());
}

#[test]
fn patient_commands_are_fair_between_providers() {
    let mut queue = JobQueue::new(true);
    for number in 0..u128::try_from(WAITING_PER_PROVIDER_MAX).unwrap() {
        assert!(queue.push_job(new_job(1, Command::DeleteUser(DeleteUser(user_id(10 + number))))).is_ok());
    }
    assert!(queue.push_job(new_job(1, Command::DeleteUser(DeleteUser(user_id(1))))).is_err());
    assert!(queue.push_job(new_job(2, Command::DeleteUser(DeleteUser(user_id(2))))).is_ok());
    for number in [3, 4] {
        assert!(queue.push_job(new_job(2, Command::DeleteUser(DeleteUser(user_id(number))))).is_ok());
    }
    assert!(queue.push_job(new_job(3, Command::DeleteUser(DeleteUser(user_id(5))))).is_ok());
    let taken: Vec<_> = (0..6).map(|_| senders_of_batch(queue.take_batch(PATIENT).as_ref())).collect();
    assert_eq!(taken, [[10], [2], [5], [11], [3], [12]]);
}

#[test]
fn a_sending_company_needs_its_reserve_account() {
    let mut sent = recognition_job(1, 1, &[2]);
    if let Command::SendRecognition(command) = &mut sent.submission.command {
        command.sender = Sender::Company(CompanyId::from_uuid(Uuid::from_u128(77)));
    }
    let needs = Job::new(sent.submission).needs;
    let reserve = Account::Reserve(CompanyId::from_uuid(Uuid::from_u128(77)));
    assert_eq!(needs.accounts, BTreeSet::from([Account::Wallet(WalletType::User, user_id(2)), reserve]));
}

#[test]
fn a_large_command_that_conflicted_lets_another_one_go_first() {
    let many: Vec<u128> = (100..120).collect();
    let mut queue = JobQueue::new(true);
    let now = Instant::now();
    let mut conflicted = recognition_job(1, 1, &many);
    conflicted.count_retry(now);
    queue.push_for_retry(vec![conflicted]);
    assert!(queue.push_job(recognition_job(1, 2, &(200..220).collect::<Vec<_>>())).is_ok());
    let take = |queue: &mut JobQueue, now| {
        let batch = queue.take_patient_batch(true, now);
        batch.iter().map(|job| job.retries).collect::<Vec<_>>()
    };
    assert_eq!(take(&mut queue, now), [0]);
    assert_eq!(take(&mut queue, now), [0; 0]);
    assert_eq!(take(&mut queue, now + LARGE_RETRY_PAUSE), [1]);
}
