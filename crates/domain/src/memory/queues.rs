//! The outbox, readable for tests, and the audit log.

use super::Unit;
use crate::ledger::require;
use crate::model::{AuditEntry, EventKind};
use crate::ports::{AuditLog, MailOutbox, NewEvent, NewMail, Outbox, StoreError};

impl Outbox for Unit {
    fn queue_events(&mut self, new: &[NewEvent]) -> Result<(), StoreError> {
        self.run(|data| {
            for event in new {
                require(data.events.iter().all(|other| other.id != event.id), "an event has this id")?;
                require(event.body.len() >= 2, "an event has a body")?;
                let is_its_own = event.id.as_uuid() != event.cause.as_uuid();
                let of_many = event.kind == EventKind::RecognitionReceived;
                require(is_its_own == of_many, "an event is named after what it tells of")?;
                data.events.push(event.clone());
            }
            Ok(())
        })
    }
}

impl MailOutbox for Unit {
    fn queue_mails(&mut self, new: &[NewMail]) -> Result<(), StoreError> {
        self.run(|data| {
            for mail in new {
                require(data.mails.iter().all(|other| other.id != mail.id), "a mail has this id")?;
                data.mails.push(mail.clone());
            }
            Ok(())
        })
    }
}

impl AuditLog for Unit {
    fn note(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        self.run(|data| {
            require(data.noted.iter().all(|other| other.id != entry.id), "an entry has this id")?;
            data.noted.push(entry.clone());
            Ok(())
        })
    }
}
