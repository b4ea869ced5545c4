//! Commands that read or seal the ledger and its log: `guerdon verify`, `seal`, `audit` and `statement`.

pub(super) mod audit;
pub(super) mod seal;
pub(super) mod statement;
pub(super) mod verify;
