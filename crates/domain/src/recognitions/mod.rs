//! Recognitions: points with a message, from a sender to receivers (behaviour 15).

mod receivers;
mod rehearse;
pub(crate) mod send;
mod tell;
mod update;

pub use receivers::{InvalidReceivers, Receivers};
pub use rehearse::{Rehearsal, rehearse};
pub use send::{SendError, SendFault, SendRecognition, send};
pub use update::{UpdateRecognition, UpdateRecognitionError, update};

pub use crate::model::{Recognition, Sender};
