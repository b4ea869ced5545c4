//! Finishes distributions in steps.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use time::Duration;
use uuid::Uuid;

use super::{FAILURE_PAUSE, end_pauses, require_no_outage};
use crate::commands::{BlockingCommandQueue, Command, Done};
use crate::distributions::ContinueDistribution;
use crate::model::Requester;
use crate::ports::{Store, StoreError, StoreExt, Timestamp};
use crate::values::{CompanyId, JournalEntryId, ProviderId};

/// An unfinished distribution whose next step failed.
#[derive(Debug, Clone)]
pub struct FailedDistribution {
    /// The journal entry of the distribution.
    pub entry_id: JournalEntryId,
    /// The paying company; `None` if the journal does not have the entry.
    pub company: Option<CompanyId>,
    /// Why its next step failed.
    pub reason: StoreError,
}

impl FailedDistribution {
    /// Whether every later attempt will fail as well. The points then stay in transit until an operator repairs
    /// the database.
    pub fn is_permanent(&self) -> bool {
        matches!(self.reason, StoreError::Broken(_) | StoreError::Corrupt { .. })
    }
}

/// A step of an unfinished distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistributionStep {
    /// The paying company; `None` if the journal does not have the entry.
    pub company: Option<CompanyId>,
    /// How many receivers were paid; `None` if the step failed.
    pub paid: Option<usize>,
}

/// How long a distribution is paused after a temporary failure. A failed step may have waited for seconds, so an
/// immediate retry would delay the others.
const RETRY_PAUSE: Duration = Duration::seconds(10);

/// What a process remembers about unfinished distributions between two calls of [`finish_distributions`].
#[derive(Debug, Default)]
pub struct DistributionTurns {
    /// The distributions whose next step failed, and until when they are paused, so that others are not delayed.
    paused: BTreeMap<JournalEntryId, Timestamp>,
    /// The distribution whose step was attempted last. The next call begins with the one after it.
    last: Option<JournalEntryId>,
}

/// The provider under which steps are queued if the journal entry of their distribution is missing.
const UNKNOWN_PROVIDER: ProviderId = ProviderId::from_uuid(Uuid::nil());

/// Executes the remaining steps of every unfinished distribution, one transaction per step, and calls `after_step`
/// after each of them. The distributions take turns, also from one call to the next, so that a large one does not delay
/// the others. Stops when `after_step` returns `Break`. Any number of processes may do this concurrently.
///
/// Returns the distributions that could not be finished. They do not prevent others from being finished, and are paused
/// for ten seconds, or for a minute if every later attempt will fail as well.
///
/// # Errors
///
/// If the database cannot be used now. A later call then continues.
pub fn finish_distributions(
    store: &dyn Store,
    commands: &BlockingCommandQueue,
    turns: &mut DistributionTurns,
    after_step: &mut dyn FnMut(DistributionStep) -> ControlFlow<()>,
) -> Result<Vec<FailedDistribution>, StoreError> {
    let unfinished = store.read_snapshot(|reads| reads.unfinished_distributions())?.distributions;
    let requester = Requester::SCHEDULE;
    let now = commands.context_sources.clock.now();
    end_pauses(&mut turns.paused, now);
    let mut failed = Vec::new();
    let mut waiting: VecDeque<_> =
        unfinished.into_iter().filter(|(id, _)| !turns.paused.contains_key(id)).collect();
    let had_turn = waiting.iter().take_while(|(id, _)| Some(*id) <= turns.last).count();
    waiting.rotate_left(had_turn);
    while let Some((entry_id, owner)) = waiting.pop_front() {
        turns.last = Some(entry_id);
        let (company, provider) = owner.unzip();
        let command = Command::ContinueDistribution(ContinueDistribution(entry_id));
        match commands.execute_command(provider.unwrap_or(UNKNOWN_PROVIDER), &requester, command) {
            Ok(Done::Continued(Some(count))) => {
                waiting.push_back((entry_id, owner));
                if after_step(DistributionStep { company, paid: Some(count) }).is_break() {
                    return Ok(failed);
                }
            }
            Ok(_) => {}
            Err(refusal) => {
                let reason =
                    refusal.into_failure().unwrap_or_else(|refusal| StoreError::Broken(refusal.to_string()));
                let no_outage = require_no_outage(store, &reason);
                let failure = FailedDistribution { entry_id, company, reason };
                let pause = if failure.is_permanent() { FAILURE_PAUSE } else { RETRY_PAUSE };
                turns.paused.insert(entry_id, commands.context_sources.clock.now() + pause);
                failed.push(failure);
                no_outage?;
                if after_step(DistributionStep { company, paid: None }).is_break() {
                    return Ok(failed);
                }
            }
        }
    }
    Ok(failed)
}
