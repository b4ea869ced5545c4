//! Submitting a command and waiting for its outcome, for threads that may block.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use super::{Command, CommandQueue, ContextSources, Done, Outcome, OutcomeReceiver, Refusal, Submission};
use crate::idempotency::IdempotentRequest;
use crate::model::Requester;
use crate::ports::StoreError;
use crate::values::ProviderId;

/// The command queue for callers that block.
#[derive(Clone)]
pub struct BlockingCommandQueue {
    pub queue: Arc<dyn CommandQueue>,
    pub context_sources: ContextSources,
}

/// Renders the result of a command as the status and body of the response that is stored under its
/// idempotency key.
pub type ResponseRenderer = dyn FnMut(&Done) -> Result<(u16, Vec<u8>), StoreError> + Send;

struct ChannelReceiver {
    render: Box<ResponseRenderer>,
    outcome_sender: Sender<Outcome>,
}

impl OutcomeReceiver for ChannelReceiver {
    fn render_response(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        (self.render)(done)
    }

    fn confirm_execution(&self) -> bool {
        true
    }

    fn receive_outcome(self: Box<Self>, outcome: Outcome) {
        drop(self.outcome_sender.send(outcome)); // the receiver is gone only if its thread panicked
    }
}

impl BlockingCommandQueue {
    /// Executes a command.
    ///
    /// # Errors
    ///
    /// The refusal, or a failure of the store.
    pub fn execute_command(
        &self,
        provider: ProviderId,
        requester: &Requester,
        command: Command,
    ) -> Result<Done, Refusal> {
        let render = Box::new(|_: &Done| Ok((0, Vec::new())));
        match self.submit_and_wait(provider, requester.clone(), command, None, render) {
            Outcome::Done(done) => Ok(done),
            Outcome::Refused(refusal) => Err(refusal),
            Outcome::AlreadyExecuted(_) | Outcome::KeyInUse | Outcome::KeyMisused => Err(StoreError::Broken(
                "the queue returned an idempotency outcome for a command without a key".into(),
            )
            .into()),
        }
    }

    /// Executes a command, optionally with an idempotency key. `render` returns the response to store under
    /// the key.
    pub fn submit_and_wait(
        &self,
        provider: ProviderId,
        requester: Requester,
        command: Command,
        idempotent_request: Option<IdempotentRequest>,
        render: Box<ResponseRenderer>,
    ) -> Outcome {
        let (outcome_sender, outcome) = channel();
        let outcome_receiver = Box::new(ChannelReceiver { render, outcome_sender });
        let context_sources = self.context_sources.clone();
        self.queue.submit_command(Submission {
            command,
            provider,
            requester,
            context_sources,
            idempotent_request,
            outcome_receiver,
        });
        outcome.recv().unwrap_or_else(|_dropped| Outcome::Refused(Outcome::dropped_receiver_error().into()))
    }
}
