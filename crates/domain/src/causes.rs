//! Why points moved: one fact for each thing that was asked for, with who asked. Every transfer names its cause, so
//! that the whole ledger can be reckoned anew from the causes, which is what `guerdon verify` does.

pub use crate::model::{Act, Actor, By, Cause, Origin, ScheduledDate, Sending};
