//! Time, ids and event bodies, so that tests can hold all three.

use uuid::Uuid;

use super::EventBodies;
use crate::model::{Act, Action, AuditEntry, Cause, Company, Origin};
use crate::values::CauseId;

pub use crate::values::Timestamp;

/// The wall clock.
pub trait Clock: Send + Sync {
    /// The present moment, in UTC, whole microseconds.
    fn now(&self) -> Timestamp;
}

/// The source of new identifiers.
pub trait Ids: Send + Sync {
    /// A new UUID; in production version 7, rising within a process.
    fn next(&self) -> Uuid;
}

/// What a use case is given beside its transaction and its command.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub clock: &'a dyn Clock,
    pub ids: &'a dyn Ids,
    /// Renders events to the bytes that will be sent.
    pub bodies: &'a dyn EventBodies,
    /// Who asks.
    pub origin: Origin<'a>,
}

impl Context<'_> {
    /// Why something is being done in a company, now.
    pub fn cause(&self, company: &Company, act: Act) -> Cause {
        Cause {
            id: CauseId::from_uuid(self.ids.next()),
            company_id: company.id,
            provider_id: company.provider_id,
            act,
            by: self.origin.into(),
            rate: company.rate,
            created_at: self.clock.now(),
        }
    }

    /// What is to be noted of something that is being done now.
    pub fn entry(&self, action: Action) -> AuditEntry {
        AuditEntry {
            id: self.ids.next(),
            at: self.clock.now(),
            by: self.origin.into(),
            action,
            company_id: None,
            provider_id: None,
            object_id: None,
            detail: String::new(),
        }
    }
}
