//! Reckoning the ledger anew: from the causes to the transfers that they must have, and from the transfers to what each
//! account must hold. Facts come as they are stored, damaged or not; nothing here trusts them.
//!
//! Both judges take their facts one after the other and remember little, so that a ledger of any size can be judged.

mod account;
mod cause;
mod facts;
mod steps;
mod verify;

pub use account::{AccountJudge, Held, Side, Touch};
pub use cause::CauseJudge;
pub use facts::{End, Movement, Sent};
pub use verify::verify;

pub use crate::model::{AuditReport, Checked, Findings, Part, Violation};
pub use crate::ports::Examination;
