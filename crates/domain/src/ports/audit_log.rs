//! The audit log. It lists the journal entries together with the audit entries, which record the changes that have no
//! journal entry.

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::model::{Action, Actor, AuditEntry, JournalEntry};
use crate::values::{CompanyId, ProviderId};

/// A query of the audit log. All conditions must hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditLogQuery {
    pub company: Option<CompanyId>,
    pub provider: Option<ProviderId>,
    pub actor: Option<Actor>,
    pub action: Option<Action>,
    /// Whether to omit sent recognitions, which are most of the entries.
    pub without_recognitions: bool,
    /// Only entries at this time or later.
    pub since: Option<Timestamp>,
    /// Only entries older than the entry with this id.
    pub before: Option<Uuid>,
    /// The maximum number of entries. The newest ones are returned.
    pub limit: i64,
}

pub trait ReadAuditLog {
    /// The audit entries, newest first.
    fn list_audit_entries(&mut self, query: &AuditLogQuery) -> Result<Vec<AuditEntry>, StoreError>;

    /// The journal entries that match, newest first.
    fn list_journal_entries(&mut self, query: &AuditLogQuery) -> Result<Vec<JournalEntry>, StoreError>;
}

/// Writes audit entries.
pub trait AuditLog {
    fn record_audit_entry(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;
}
