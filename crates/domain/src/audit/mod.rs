//! Recomputes the ledger: the transfers that each journal entry must have, and the balance that each account
//! must have. Facts come as they are stored, possibly damaged; nothing here trusts them.
//!
//! Both checkers take their facts one after the other and remember little, so that they can check a ledger of
//! any size.

mod account_audit;
mod distribution_steps;
mod journal_entry_audit;
mod stored_rows;
mod verify;

pub use account_audit::{AccountAudit, Side, StoredAccount, StoredAccountEntry};
pub use journal_entry_audit::JournalEntryAudit;
pub use stored_rows::{AccountKey, StoredRecognition, StoredTransfer};
pub use verify::verify;

pub use crate::model::{AuditPart, AuditReport, CheckedRows, Findings, Violation};
pub use crate::ports::AuditOptions;
