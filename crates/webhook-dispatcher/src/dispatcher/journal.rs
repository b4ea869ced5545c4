//! What the dispatcher needs of the store: three transactions.

use std::time::Duration;

use guerdon_domain::ports::{Claim, Claimed, Settlement, StoreError, Timestamp};
use guerdon_domain::values::ProviderId;

/// What a look into the outbox gave.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// Whose events were due, before any was claimed.
    pub providers: Vec<ProviderId>,
    /// What was claimed of them.
    pub claimed: Vec<Claimed>,
    /// When the next event is due, where none was.
    pub next: Option<Timestamp>,
}

/// The outbox, as the dispatcher sees it. Several dispatchers may share one.
pub trait Journal: Send + Sync {
    /// Claims due events in one transaction. `plan` is given who has an event due at `now`, and answers what to
    /// claim; it may be asked again if the transaction is run again.
    ///
    /// # Errors
    ///
    /// Where the store cannot serve; nothing is claimed then, or is until its lease ends.
    fn claim_due(
        &self,
        now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<Claim>,
    ) -> Result<Look, StoreError>;

    /// Writes settlements in one transaction, and returns once they are durable.
    ///
    /// # Errors
    ///
    /// Where the store cannot serve; it is then unknown whether they were written, and they can be written again.
    fn settle(&self, settlements: &[Settlement]) -> Result<(), StoreError>;

    /// Brings back what is due later than it can be, in one transaction; answers how many events it was. See
    /// [`Deliveries::bring_back`](guerdon_domain::ports::Deliveries::bring_back).
    ///
    /// # Errors
    ///
    /// Where the store cannot serve; nothing is brought back then.
    fn bring_back(&self, now: Timestamp, waits: &[Duration], lease: Duration) -> Result<usize, StoreError>;
}
