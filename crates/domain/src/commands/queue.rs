//! Submitting commands.

use std::sync::Arc;

use super::{Command, Done, Refusal};
use crate::idempotency::Repeatable;
use crate::model::{By, IdempotencyRecord};
use crate::ports::{Clock, Context, EventBodies, Ids, StoreError};
use crate::values::ProviderId;

/// What decisions need of the world beside the store.
#[derive(Clone)]
pub struct Surroundings {
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub bodies: Arc<dyn EventBodies>,
}

/// A command on its way.
pub struct Submission {
    pub command: Command,
    /// For whom it acts. Providers take turns.
    pub provider: ProviderId,
    pub by: By,
    pub surroundings: Surroundings,
    /// The idempotency key under which it may be repeated.
    pub repeatable: Option<Repeatable>,
    /// Who waits for the outcome.
    pub response: Box<dyn Response>,
}

/// Whoever waits for the outcome of a command.
pub trait Response: Send {
    /// Renders what was done. Returns the status and the body to be kept under the idempotency key; they are ignored without
    /// one. May be called again for a later attempt.
    ///
    /// # Errors
    ///
    /// If it cannot be rendered; nothing of the command is kept then.
    fn render(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError>;

    /// Whether the outcome is still wanted. Asked when the command is decided and rendered: after `true` the outcome is waited
    /// for, after `false` nothing of the command is kept.
    fn is_wanted(&self) -> bool;

    /// Ends the wait. Called once.
    fn end(self: Box<Self>, outcome: Outcome);
}

/// How a submission ended.
#[derive(Debug)]
pub enum Outcome {
    /// The command was carried out and is durable, as it was rendered last.
    Done(Done),
    /// The idempotency key was used by the same request before; this was its response.
    Repeated(IdempotencyRecord),
    /// Another request holds the idempotency key.
    KeyInUse,
    /// The idempotency key was used by another request before.
    KeyMisused,
    /// Nothing was changed.
    Refused(Refusal),
}

/// Where commands that move points are submitted.
pub trait CommandQueue: Send + Sync {
    /// Takes a command. Its response is ended once, possibly before this returns.
    fn submit(&self, submission: Submission);
}

impl Surroundings {
    /// The context of a command by this actor.
    pub fn context<'a>(&'a self, by: &'a By) -> Context<'a> {
        Context { clock: &*self.clock, ids: &*self.ids, bodies: &*self.bodies, origin: by.origin() }
    }
}
