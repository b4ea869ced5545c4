//! Commands that move points, as data.
//!
//! A request submits its command to a [`CommandQueue`]. The queue groups waiting commands into batches: in
//! one transaction it loads what all of them need, decides them one after the other and writes the results.
//! Then each response receives its [`Outcome`].

mod command;
mod queue;
mod wait;

pub use command::{Command, Done, Refusal};
pub use queue::{CommandQueue, Outcome, Response, Submission, Surroundings};
pub use wait::{Commands, Render};
