//! Commands that move points, as data.
//!
//! A request submits its command to a [`CommandQueue`]. Workers behind the queue execute waiting commands in
//! batches: one transaction loads what all of them need, decides them one after the other and writes the results.
//! Then each [`OutcomeReceiver`] receives its [`Outcome`].

mod blocking;
mod command;
mod queue;

pub use blocking::{BlockingCommandQueue, ResponseRenderer};
pub use command::{Command, Done, Refusal};
pub use queue::{CommandQueue, ContextSources, Outcome, OutcomeReceiver, Submission};
