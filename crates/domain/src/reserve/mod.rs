//! A company's reserve: deposits, withdrawals, and the alert when it runs low (behaviour 11.6, 11.7).

mod alert;
mod change;

pub use crate::ledger::FUNDED_MAX;
pub(crate) use alert::queue_alert_on_crossing;
pub use alert::{alert_threshold, set_alert};
pub use change::{ChangeReserve, ReserveDirection, ReserveError, read_balance};
