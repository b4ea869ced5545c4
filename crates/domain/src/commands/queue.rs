//! The port to which commands are submitted.

use std::sync::Arc;

use super::{Command, Done, Refusal};
use crate::idempotency::IdempotentRequest;
use crate::model::{IdempotencyRecord, Requester};
use crate::ports::{Clock, Context, EventBodies, IdGenerator, StoreError};
use crate::values::ProviderId;

/// The clock, the ids and the event bodies that decisions need in addition to the facts and accounts that were loaded.
#[derive(Clone)]
pub struct ContextSources {
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdGenerator>,
    pub bodies: Arc<dyn EventBodies>,
}

/// A command with everything that its execution needs.
pub struct Submission {
    pub command: Command,
    /// The provider on whose behalf the command acts. The queue serves providers in turn.
    pub provider: ProviderId,
    pub requester: Requester,
    pub context_sources: ContextSources,
    /// The idempotency key and the digest of the request; `None` if the request has no key.
    pub idempotent_request: Option<IdempotentRequest>,
    pub outcome_receiver: Box<dyn OutcomeReceiver>,
}

/// Receives the outcome of a command.
pub trait OutcomeReceiver: Send {
    /// Renders the result. Returns the status and the body to store under the idempotency key; without a key
    /// they are ignored. May be called again if the command is retried.
    ///
    /// # Errors
    ///
    /// If the result cannot be rendered. The command then has no effect.
    fn render_response(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError>;

    /// Asks whether to commit the command. Called each time its result has been rendered. After returning true, the
    /// receiver must wait for the outcome; after returning false, the command has no effect.
    fn confirm_execution(&self) -> bool;

    /// Receives the outcome. Called at most once: if the worker panics, the receiver is dropped instead, and the
    /// outcome is unknown.
    fn receive_outcome(self: Box<Self>, outcome: Outcome);
}

/// How a submission ended.
#[derive(Debug)]
pub enum Outcome {
    /// The command was executed and committed durably. The response that was rendered last is the valid one.
    Done(Done),
    /// The request was already executed under this idempotency key. This is its response.
    AlreadyExecuted(IdempotencyRecord),
    /// Another request with the same idempotency key is in progress.
    KeyInUse,
    /// The idempotency key was already used for a different request.
    KeyMisused,
    /// The command was refused, or the store failed ([`Refusal::Store`]).
    Refused(Refusal),
}

impl Outcome {
    /// The error if the receiver of a command was dropped: its worker panicked, perhaps after the commit.
    pub fn dropped_receiver_error() -> StoreError {
        StoreError::OutcomeUnknown("the command ended without an outcome".to_owned())
    }
}

/// The port to which commands that move points are submitted.
pub trait CommandQueue: Send + Sync {
    /// Accepts a command. Its receiver gets the outcome at most once, possibly before this function returns.
    fn submit_command(&self, submission: Submission);
}

impl ContextSources {
    /// The context for a command from this requester.
    pub fn context_for<'a>(&'a self, requester: &'a Requester) -> Context<'a> {
        Context { clock: &*self.clock, ids: &*self.ids, bodies: &*self.bodies, requester }
    }
}
