//! The outbox, which tests can read, and the audit log.

use super::MemoryTx;
use crate::ledger::require_rule;
use crate::model::{AuditEntry, EventSubject};
use crate::ports::{AuditLog, NewEvent, NewNotification, NotificationOutbox, Outbox, StoreError};

impl Outbox for MemoryTx {
    fn queue_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError> {
        self.execute(|data| {
            for event in events {
                require_rule(data.event_ids.insert(event.id), "event ids are unique")?;
                require_rule(event.body.len() >= 2, "an event has a body")?;
                let has_own_id = event.id.as_uuid() != event.entry_id.as_uuid();
                let is_one_of_many = event.kind.subject() == EventSubject::SentRecognition;
                require_rule(has_own_id == is_one_of_many, "an event has the id of its subject")?;
                data.events.push(event.clone());
            }
            Ok(())
        })
    }
}

impl NotificationOutbox for MemoryTx {
    fn queue_notifications(&mut self, new: &[NewNotification]) -> Result<(), StoreError> {
        self.execute(|data| {
            for notification in new {
                let is_new = data.notifications.iter().all(|other| other.id != notification.id);
                require_rule(is_new, "notification ids are unique")?;
                data.notifications.push(notification.clone());
            }
            Ok(())
        })
    }
}

impl AuditLog for MemoryTx {
    fn record_audit_entry(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.execute(|data| {
            require_rule(
                data.audit_entries.iter().all(|other| other.id != entry.id),
                "audit entry ids are unique",
            )?;
            data.audit_entries.push(entry.clone());
            Ok(())
        })
    }
}
