//! Postings that wait at the same moment, made as one set: what they need is read for all of them, each is judged in its
//! turn on what those before it left, and what all of them write is written at once. A use case does not know whether it
//! is in a set. It is run once without a database, until it says what it will need (`Locks::line_up`); then in its set,
//! on facts and books in memory. Whatever it asks for beyond these has it run alone, on a connection, as if there had
//! been no set.

use std::any::Any;

use guerdon_domain::ports::StoreError;

mod ahead;
mod set;

pub(crate) use ahead::Ahead;
pub(crate) use set::{Facts, Set};

/// The most postings that wait at a time; more are sent away at once.
pub(crate) const WAITING_MAX: usize = 512;

/// What whoever made a posting is told of its panic.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> StoreError {
    let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    StoreError::Broken(format!("a unit of work panicked: {}", said.unwrap_or("it does not say why")))
}

/// How a unit of work takes part in a set.
pub(crate) enum Part {
    /// It is asked what it will need, and goes no further.
    Ahead(Ahead),
    /// It is its turn.
    InSet(Box<Set>),
}
