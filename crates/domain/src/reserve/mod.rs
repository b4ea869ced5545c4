//! A company's reserve: deposits, and the alert when it runs low (spec §2.1, contract §5.8).

mod alert;
mod deposit;

pub use alert::{alert_after_payment, alert_on_crossing, is_low};
pub use deposit::{DepositError, deposit, shown};
