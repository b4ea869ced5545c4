//! Time, ids and event bodies come through ports, so that tests control them.

use uuid::Uuid;

use super::{EventBodies, RenderError};
use crate::model::{Action, AuditEntry, Company, EntryKind, Event, JournalEntry, NewEvent, Requester};
use crate::values::JournalEntryId;

pub use crate::values::Timestamp;

/// The wall clock.
pub trait Clock: Send + Sync {
    /// The current time in UTC, in whole microseconds.
    fn now(&self) -> Timestamp;
}

/// The source of new ids.
pub trait IdGenerator: Send + Sync {
    /// A new UUID. In production it has version 7 and increases within a process.
    fn next_id(&self) -> Uuid;
}

/// What a use case receives in addition to its transaction and its command.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub clock: &'a dyn Clock,
    pub ids: &'a dyn IdGenerator,
    /// Renders events to the bytes that are sent.
    pub bodies: &'a dyn EventBodies,
    pub requester: &'a Requester,
}

impl Context<'_> {
    /// A new journal entry of a company at the current time.
    pub fn new_journal_entry(&self, company: &Company, kind: EntryKind) -> JournalEntry {
        JournalEntry {
            id: JournalEntryId::from_uuid(self.ids.next_id()),
            company_id: company.id,
            provider_id: company.provider_id,
            kind,
            requester: self.requester.clone(),
            rate: company.rate,
            created_at: self.clock.now(),
        }
    }

    /// A new event of a journal entry, for the provider of the entry.
    pub fn new_event(
        &self,
        event: &Event<'_>,
        entry: &JournalEntry,
        has_callback: bool,
    ) -> Result<NewEvent, RenderError> {
        Ok(NewEvent {
            id: event.id_for_entry(entry.id),
            company_id: entry.company_id,
            provider_id: entry.provider_id,
            kind: event.kind(),
            entry_id: entry.id,
            body: self.bodies.render_event(event)?,
            addressed: has_callback,
            created_at: entry.created_at,
        })
    }

    /// A new audit entry of an action at the current time.
    pub fn new_audit_entry(&self, action: Action) -> AuditEntry {
        AuditEntry {
            id: self.ids.next_id(),
            at: self.clock.now(),
            requester: self.requester.clone(),
            action,
            company_id: None,
            provider_id: None,
            object_id: None,
            detail: String::new(),
        }
    }
}
