//! Commands that move points, as data.
//!
//! Whoever wants points moved submits a [`Submission`] to a [`CommandQueue`]. The queue groups the commands that wait: it
//! loads what all of them need, decides them one after the other, writes what they come to in one transaction, and tells
//! each its [`Outcome`].

mod command;
mod queue;

pub use command::{Command, Done, Refusal};
pub use queue::{CommandQueue, Outcome, Response, Submission, Surroundings};
