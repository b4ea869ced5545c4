//! Recognitions: points with a message, from a sender to receivers (behaviour 15).

mod dry_run;
mod events;
mod receivers;
mod send;
mod update;

pub use dry_run::{DryRun, dry_run};
pub use receivers::{InvalidReceivers, Receivers};
pub use send::{SendError, SendFault, SendRecognition};
pub use update::{UpdateRecognition, UpdateRecognitionError, update};

pub use crate::model::{Recognition, Sender};
