//! The audit log: what moved points is told by the causes, the rest by entries of its own.

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::model::{Action, Actor, AuditEntry, Cause};
use crate::values::{CompanyId, ProviderId};

/// Which part of the log is wanted; all of these must be so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditWanted {
    pub company: Option<CompanyId>,
    pub provider: Option<ProviderId>,
    pub actor: Option<Actor>,
    pub action: Option<Action>,
    /// Then or later.
    pub since: Option<Timestamp>,
    /// Older than the entry of this id.
    pub before: Option<Uuid>,
    /// At most so many, the newest.
    pub limit: i64,
}

pub trait ReadAuditLog {
    /// What was noted, newest first.
    fn noted(&mut self, wanted: &AuditWanted) -> Result<Vec<AuditEntry>, StoreError>;

    /// What was asked for that moved points or says what they are worth, newest first.
    fn caused(&mut self, wanted: &AuditWanted) -> Result<Vec<Cause>, StoreError>;
}

/// Writing what no cause tells.
pub trait AuditLog {
    fn note(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;
}
