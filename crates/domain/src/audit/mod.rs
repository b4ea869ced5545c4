//! Recomputes the ledger: the transfers that each journal entry must have, and the balance that each account
//! must have. Facts come as they are stored, possibly damaged; nothing here trusts them.
//!
//! Both checkers take their facts one after the other and remember little, so that they can check a ledger of
//! any size.

mod account;
mod facts;
mod journal_entry;
mod steps;
mod verify;

pub use account::{AccountJudge, Held, Side, Touch};
pub use facts::{End, Movement, Sent};
pub use journal_entry::JournalEntryAudit;
pub use verify::verify;

pub use crate::model::{AuditReport, Checked, Findings, Part, Violation};
pub use crate::ports::Examination;
