//! Recognitions: points with a message, from a sender to receivers (behaviour 15).

mod receivers;
mod rehearse;
mod send;
mod tell;
mod update;

pub use receivers::{InvalidReceivers, Receivers};
pub use rehearse::{Rehearsal, rehearse};
pub use send::{SendError, SendFault, SendRecognition};
pub use update::{UpdateRecognition, UpdateRecognitionError, update};

pub use crate::model::{Recognition, Sender};
