//! The rules by which points move, without a database.
//!
//! A command first states its *needs*: [`Needs`] names the [`Facts`] to read and the accounts to lock. The
//! command is then decided in memory: [`AccountBook::pay`] moves points between the loaded accounts, and
//! [`Changes`] collects everything else that is to be written. Nothing here waits, reads or writes.

mod book;
mod changes;
mod facts;
mod journal_entries;
mod needs;
mod pay;
mod payment;
mod rules;
mod state;
mod transfer;

pub use book::AccountBook;
pub use changes::{Changes, DistributionProgress};
pub use facts::{CompanyFacts, DistributionStep, Facts, ScheduleFacts};
pub use needs::Needs;
pub use payment::{Paid, Payment, PaymentKind, PaymentOutcome, ThresholdCrossing};
pub(crate) use rules::amount_out_of_range;
#[cfg(feature = "memory")]
pub(crate) use rules::require_rule;
pub use rules::{FUNDED_MAX, LedgerError};
pub use state::AccountState;
pub use transfer::Transfer;
