//! Finishing distributions in several steps.

use std::ops::ControlFlow;

use uuid::Uuid;

use crate::commands::{Command, Commands, Done, Refusal};
use crate::distributions::ContinueDistribution;
use crate::model::{Actor, By};
use crate::ports::{Store, StoreError, StoreExt};
use crate::values::{CauseId, CompanyId, ProviderId};

/// A distribution that was not finished.
#[derive(Debug, Clone)]
pub struct Unfinished {
    /// The journal entry of the distribution.
    pub cause: CauseId,
    /// The company that pays; none if the journal has no such entry.
    pub company: Option<CompanyId>,
    /// Why its next step failed.
    pub reason: StoreError,
}

impl Unfinished {
    /// Whether every later try will fail, too: the points stay in transit until an operator repairs the database.
    pub fn is_lasting(&self) -> bool {
        matches!(self.reason, StoreError::Broken(_) | StoreError::Corrupt { .. })
    }
}

/// Whose turn the steps of a distribution take that the journal does not have.
const NOBODY: ProviderId = ProviderId::from_uuid(Uuid::nil());

/// Carries out the remaining steps of every unfinished distribution, one transaction per step, and calls `paid` with
/// the number of receivers of each, until it breaks off. Any number of processes may do this at once.
///
/// Returns the distributions that were not finished; these do not keep others from being finished.
///
/// # Errors
///
/// If the database cannot be used now; a later call then continues.
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
                    let reason =
                        refusal.into_failure().unwrap_or_else(|it| StoreError::Broken(it.to_string()));
                    failed.push(Unfinished { cause, company, reason });
                    break;
                }
            }
        }
    }
    Ok(failed)
}
