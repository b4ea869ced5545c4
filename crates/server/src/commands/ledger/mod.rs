//! Commands that read or seal the ledger and the audit log: `guerdon verify`, `seal`, `audit` and `statement`.

pub(super) mod audit;
pub(super) mod seal;
pub(super) mod statement;
pub(super) mod verify;
