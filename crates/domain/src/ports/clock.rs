//! Time, ids and event bodies come through ports, so that tests control them.

use uuid::Uuid;

use super::EventBodies;
use crate::model::{Act, Action, AuditEntry, Company, JournalEntry, Origin};
use crate::values::JournalEntryId;

pub use crate::values::Timestamp;

/// The wall clock.
pub trait Clock: Send + Sync {
    /// The current time in UTC, in whole microseconds.
    fn now(&self) -> Timestamp;
}

/// The source of new ids.
pub trait Ids: Send + Sync {
    /// A new UUID. In production it has version 7 and increases within a process.
    fn next(&self) -> Uuid;
}

/// What a use case receives in addition to its transaction and its command.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub clock: &'a dyn Clock,
    pub ids: &'a dyn Ids,
    /// Renders events to the bytes that are sent.
    pub bodies: &'a dyn EventBodies,
    /// Who requested it.
    pub origin: Origin<'a>,
}

impl Context<'_> {
    /// The journal entry of an act in a company, now.
    pub fn cause(&self, company: &Company, act: Act) -> JournalEntry {
        JournalEntry {
            id: JournalEntryId::from_uuid(self.ids.next()),
            company_id: company.id,
            provider_id: company.provider_id,
            act,
            by: self.origin.into(),
            rate: company.rate,
            created_at: self.clock.now(),
        }
    }

    /// The audit entry of an action, now.
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
