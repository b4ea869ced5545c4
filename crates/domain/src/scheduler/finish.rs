//! Finishes distributions in steps.

use std::ops::ControlFlow;

use uuid::Uuid;

use crate::commands::{Command, Commands, Done, Refusal};
use crate::distributions::ContinueDistribution;
use crate::model::{Actor, By};
use crate::ports::{Store, StoreError, StoreExt};
use crate::values::{CompanyId, JournalEntryId, ProviderId};

/// A distribution that could not be finished.
#[derive(Debug, Clone)]
pub struct Unfinished {
    /// The journal entry of the distribution.
    pub cause: JournalEntryId,
    /// The paying company; `None` if the journal does not have the entry.
    pub company: Option<CompanyId>,
    /// Why its next step failed.
    pub reason: StoreError,
}

impl Unfinished {
    /// Whether every later try will fail as well. The points then stay in transit until an operator repairs
    /// the database.
    pub fn is_lasting(&self) -> bool {
        matches!(self.reason, StoreError::Broken(_) | StoreError::Corrupt { .. })
    }
}

/// The provider under which steps are queued if the journal does not have their distribution.
const NOBODY: ProviderId = ProviderId::from_uuid(Uuid::nil());

/// Executes the remaining steps of every unfinished distribution, one transaction per step, and calls `paid`
/// with the number of receivers of each, until `paid` breaks off. Any number of processes may do this
/// concurrently.
///
/// Returns the distributions that could not be finished. They do not prevent others from being finished.
///
/// # Errors
///
/// If the database cannot be used now. A later call then continues.
pub fn finish(
    store: &dyn Store,
    commands: &Commands,
    paid: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<Unfinished>, StoreError> {
    let unfinished = store.snapshot(|reads| reads.in_transit())?.distributions;
    let by = By { actor: Actor::Schedule, reference: None, key: None };
    let mut failed = Vec::new();
    for (cause, owner) in unfinished {
        let (company, provider) = owner.unzip();
        let command = Command::ContinueDistribution(ContinueDistribution(cause));
        loop {
            match commands.carry_out(provider.unwrap_or(NOBODY), &by, command.clone()) {
                Ok(Done::Continued(Some(count))) => {
                    if paid(count).is_break() {
                        return Ok(failed);
                    }
                }
                Ok(_) => break,
                Err(Refusal::Store(cause @ (StoreError::Unavailable(_) | StoreError::OutcomeUnknown(_)))) => {
                    return Err(cause);
                }
                Err(refusal) => {
                    let reason = refusal
                        .into_failure()
                        .unwrap_or_else(|refusal| StoreError::Broken(refusal.to_string()));
                    failed.push(Unfinished { cause, company, reason });
                    break;
                }
            }
        }
    }
    Ok(failed)
}
