//! Submitting a command and waiting for its outcome, for threads that may block.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use super::{Command, CommandQueue, Done, Outcome, Refusal, Response, Submission, Surroundings};
use crate::idempotency::Repeatable;
use crate::model::By;
use crate::ports::StoreError;
use crate::values::ProviderId;

/// The command queue for callers that block.
#[derive(Clone)]
pub struct Commands {
    pub queue: Arc<dyn CommandQueue>,
    pub surroundings: Surroundings,
}

/// Renders the result of a command to the status and the body to store under its idempotency key.
pub type Render = dyn FnMut(&Done) -> Result<(u16, Vec<u8>), StoreError> + Send;

struct Waiting {
    render: Box<Render>,
    ended: Sender<Outcome>,
}

impl Response for Waiting {
    fn render(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        (self.render)(done)
    }

    fn is_wanted(&self) -> bool {
        true
    }

    fn end(self: Box<Self>, outcome: Outcome) {
        drop(self.ended.send(outcome)); // the receiver is gone only if its thread panicked
    }
}

impl Commands {
    /// Executes a command.
    ///
    /// # Errors
    ///
    /// The refusal, or a failure of the store.
    pub fn carry_out(&self, provider: ProviderId, by: &By, command: Command) -> Result<Done, Refusal> {
        let render = Box::new(|_: &Done| Ok((0, Vec::new())));
        match self.wait(provider, by.clone(), command, None, render) {
            Outcome::Done(done) => Ok(done),
            Outcome::Refused(refusal) => Err(refusal),
            Outcome::Repeated(_) | Outcome::KeyInUse | Outcome::KeyMisused => {
                Err(StoreError::Broken("a command without a key was repeated".into()).into())
            }
        }
    }

    /// Executes a command, optionally with an idempotency key. `render` returns the response to store under
    /// the key.
    pub fn wait(
        &self,
        provider: ProviderId,
        by: By,
        command: Command,
        repeatable: Option<Repeatable>,
        render: Box<Render>,
    ) -> Outcome {
        let (ended, outcome) = channel();
        let response = Box::new(Waiting { render, ended });
        let surroundings = self.surroundings.clone();
        self.queue.submit(Submission { command, provider, by, surroundings, repeatable, response });
        outcome.recv().unwrap_or_else(|_the_command_panicked| {
            let cause = "the command ended without an outcome".to_owned();
            Outcome::Refused(StoreError::OutcomeUnknown(cause).into())
        })
    }
}
