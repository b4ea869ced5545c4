//! Why points moved: one fact for each thing that was asked for, with who asked. Every transfer names its cause, so
//! that the whole ledger can be reckoned anew from the causes, which is what `guerdon verify` does.

mod cause;
mod origin;

pub use cause::{Act, Cause, ScheduledDate, Sending};
pub use origin::{Actor, By, Origin};
