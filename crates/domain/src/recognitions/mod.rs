//! Recognitions: points with a message, from a sender to receivers (behaviour 15).

mod receivers;
mod recognition;
mod send;
mod tell;
mod update;

pub use receivers::{InvalidReceivers, Receivers};
pub use recognition::{Recognition, Sender};
pub use send::{SendError, SendFault, SendRecognition, send};
pub use update::{UpdateRecognition, UpdateRecognitionError, update};
