//! Recomputes the ledger: the transfers that each journal entry must have, and the balance that each account
//! must have. The input is read as it is stored and may be damaged; no check relies on it being valid.
//!
//! Both checkers read one row at a time and keep only a small state, so they can check a ledger of any size.

mod account_audit;
mod distribution_steps;
mod journal_entry_audit;
mod stored_rows;
mod verify;

pub use account_audit::{AccountAudit, StoredAccount, StoredAccountEntry};
pub use journal_entry_audit::JournalEntryAudit;
pub use stored_rows::{AccountKey, StoredRecognition, StoredTransfer};
pub use verify::{verify, verify_rows};

pub use crate::model::{AuditPart, AuditReport, CheckedRows, Findings, Violation};
pub use crate::ports::{AuditOptions, AuditPacer, Unpaced};
