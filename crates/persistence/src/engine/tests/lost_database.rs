//! Batches whose connection is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use guerdon_domain::commands::{Command, Done, Outcome, OutcomeReceiver, Refusal, Submission};
use guerdon_domain::ports::{LedgerAccess, StoreError, Verdict};
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};
use guerdon_test_support::Random;

use super::{EngineFixture, points_sum};
use crate::engine::job::Job;
use crate::engine::{Backend, BatchError, EngineState, Locking, Worker};

/// A database whose connection breaks in the first transaction, or before it.
struct LostDatabase {
    transactions: AtomicUsize,
    /// Whether another connection can be opened. Its transactions load nothing.
    can_reconnect: bool,
    /// Whether there is no connection for the first transaction either.
    cannot_start: bool,
}

impl Backend for LostDatabase {
    fn run_transaction(
        &self,
        _locking: Locking,
        _time_limit: Duration,
        _affected_count: usize,
        _work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        let cause = StoreError::Unavailable("no connection".to_owned());
        match self.transactions.fetch_add(1, Ordering::Relaxed) {
            0 if !self.cannot_start => Err(BatchError::Failed(cause)),
            _ if self.can_reconnect => Ok(()),
            _ => Err(BatchError::NoConnection(cause)),
        }
    }
}

/// Counts commands that were refused because the database is unavailable.
struct RefusalCounter(Arc<AtomicUsize>);

impl OutcomeReceiver for RefusalCounter {
    fn render_response(&mut self, _done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        Ok((201, Vec::new()))
    }

    fn confirm_execution(&self) -> bool {
        true
    }

    fn receive_outcome(self: Box<Self>, outcome: Outcome) {
        let is_refused = matches!(outcome, Outcome::Refused(Refusal::Store(StoreError::Unavailable(_))));
        self.0.fetch_add(usize::from(is_refused), Ordering::Relaxed);
    }
}

/// Executes a batch of the first eight of `count` commands. Returns the number of transactions and of refused commands.
fn lose_connection_of_batch(count: usize, [can_reconnect, cannot_start]: [bool; 2]) -> (usize, usize) {
    let fixture = EngineFixture::new(&mut Random(7));
    let refused = Arc::<AtomicUsize>::default();
    let (outcome_sender, _outcomes) = channel();
    let deposit = || {
        let direction = ReserveDirection::Deposit;
        let deposit = ChangeReserve { company_id: fixture.company, direction, sum: points_sum(1) };
        Job::new(Submission {
            outcome_receiver: Box::new(RefusalCounter(Arc::clone(&refused))),
            ..fixture.new_submission((Command::ChangeReserve(deposit), None), &outcome_sender)
        })
    };
    let (engine, database) = (
        EngineState::new(false),
        LostDatabase { transactions: AtomicUsize::new(0), can_reconnect, cannot_start },
    );
    let batch = {
        let mut queue = engine.lock_queue();
        assert!((0..8).all(|_| queue.push_job(deposit()).is_ok()));
        let batch = queue.take_batch(Worker::Fast).unwrap();
        assert!((8..count).all(|_| queue.push_job(deposit()).is_ok()));
        batch
    };
    engine.execute_batch(&database, batch, Worker::Fast);
    (database.transactions.into_inner(), refused.load(Ordering::Relaxed))
}

#[test]
fn the_commands_of_a_batch_wait_for_a_connection_together() {
    assert_eq!(
        lose_connection_of_batch(8, [false, false]),
        (2, 8),
        "the batch, and one wait for a connection"
    );
}

#[test]
fn the_commands_of_a_batch_run_separately_on_another_connection() {
    assert_eq!(lose_connection_of_batch(8, [true, false]), (10, 0));
}

#[test]
fn commands_that_wait_share_the_failure_to_connect() {
    assert_eq!(lose_connection_of_batch(20, [false, true]), (1, 20));
}
