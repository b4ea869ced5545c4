//! Batches while the database is unavailable.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use guerdon_domain::commands::{Command, Done, Outcome, OutcomeReceiver, Refusal, Submission};
use guerdon_domain::ports::{LedgerAccess, StoreError, Verdict};
use guerdon_domain::reserve::{ChangeReserve, ReserveChange};

use super::{EngineFixture, Random, points_sum};
use crate::engine::queue::Job;
use crate::engine::{Backend, BatchError, EngineState, Locking, Worker};

/// A database whose connection breaks in the first transaction, and to which no other can be opened.
struct LostDatabase(AtomicUsize);

impl Backend for LostDatabase {
    const HAS_LOCKS: bool = false;

    fn run_transaction(
        &self,
        _locking: Locking,
        _within: Duration,
        _is_large: bool,
        _work: &mut dyn FnMut(&mut dyn LedgerAccess) -> Verdict,
    ) -> Result<(), BatchError> {
        let cause = StoreError::Unavailable("no connection".to_owned());
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(BatchError::Failed(cause)),
            _ => Err(BatchError::Unavailable(cause)),
        }
    }
}

/// Counts commands that were refused because the database is unavailable.
struct RefusalCounter(Arc<AtomicUsize>);

impl OutcomeReceiver for RefusalCounter {
    fn render_response(&mut self, _done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        Ok((201, Vec::new()))
    }

    fn is_wanted(&self) -> bool {
        true
    }

    fn receive_outcome(self: Box<Self>, outcome: Outcome) {
        let is_refused = matches!(outcome, Outcome::Refused(Refusal::Store(StoreError::Unavailable(_))));
        self.0.fetch_add(usize::from(is_refused), Ordering::Relaxed);
    }
}

#[test]
fn a_failed_batch_does_not_wait_for_each_command_if_the_database_is_unavailable() {
    let fixture = EngineFixture::new(&mut Random(7));
    let refused = Arc::<AtomicUsize>::default();
    let (outcome_sender, _outcomes) = channel();
    let deposit = || {
        let change = ReserveChange::Deposit;
        let deposit = ChangeReserve { company_id: fixture.company, change, sum: points_sum(1) };
        Job::new(Submission {
            outcome_receiver: Box::new(RefusalCounter(Arc::clone(&refused))),
            ..fixture.new_submission((Command::ChangeReserve(deposit), None), &outcome_sender)
        })
    };
    let (engine, database) = (EngineState::new(false), LostDatabase(AtomicUsize::new(0)));
    let batch = {
        let mut queue = engine.lock_queue();
        assert!((0..8).all(|_| queue.push_job(deposit()).is_ok()));
        queue.take_batch(Worker::Fast).unwrap()
    };
    engine.execute_batch(&database, batch, Worker::Fast);
    assert_eq!(database.0.into_inner(), 2, "the batch, and one of its commands");
    assert_eq!(refused.load(Ordering::Relaxed), 8);
}
