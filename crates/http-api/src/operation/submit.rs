//! Submits a command that moves points and waits for its outcome, without occupying a thread.

use std::sync::Arc;

use guerdon_domain::commands::{Command, Done, Outcome, Refusal, Response, Submission, Surroundings};
use guerdon_domain::idempotency::Repeatable;
use guerdon_domain::journal::{Actor, By};
use guerdon_domain::ports::StoreError;
use tokio::sync::oneshot::{self, Sender};

use super::idempotency;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::promise::Promise;
use crate::operation::state::{State, broken_off};

/// Renders the result of a command.
pub(crate) type Render = fn(&Done) -> Result<Answer, ApiError>;

/// The end of a command: its outcome, the response as it was rendered last, and the resources that were held for it.
struct Ended<H> {
    outcome: Outcome,
    answer: Option<Answer>,
    held: H,
}

/// A request that waits for the outcome of its command.
struct Waiting<H> {
    render: Render,
    is_repeatable: bool,
    answer: Option<Answer>,
    promise: Arc<Promise>,
    tell: Sender<Ended<H>>,
    held: H,
}

impl<H: Send> Response for Waiting<H> {
    fn render(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        let unrendered = |cause: ApiError| StoreError::Broken(cause.told().1.to_owned());
        let answer = (self.render)(done).map_err(unrendered)?;
        let body =
            if self.is_repeatable { idempotency::kept(&answer).map_err(unrendered)? } else { Vec::new() };
        let status = answer.status.as_u16();
        self.answer = Some(answer);
        Ok((status, body))
    }

    fn is_wanted(&self) -> bool {
        self.promise.keep()
    }

    fn end(self: Box<Self>, outcome: Outcome) {
        let Self { answer, tell, held, .. } = *self;
        drop(tell.send(Ended { outcome, answer, held })); // the client may have disconnected
    }
}

/// The result of a submission.
pub(crate) enum Submitted {
    Answered(Answer),
    /// Another request holds the idempotency key.
    KeyInUse,
}

impl State {
    /// Submits a command and waits for its outcome. Returns `held` with it; if the client disconnects, `held` is dropped when the
    /// command has ended.
    pub(crate) async fn submit<H: Send + 'static>(
        self: &Arc<Self>,
        call: &Call,
        command: Command,
        repeatable: Option<Repeatable>,
        render: Render,
        held: H,
    ) -> Result<(Submitted, H), ApiError> {
        self.require_database()?;
        let promise = Arc::<Promise>::default();
        let (tell, told) = oneshot::channel();
        let response = Waiting {
            render,
            is_repeatable: repeatable.is_some(),
            answer: None,
            promise: Arc::clone(&promise),
            tell,
            held,
        };
        self.api.commands.submit(Submission {
            command,
            provider: call.scope,
            by: By {
                actor: Actor::Provider,
                reference: Some(call.request_id.to_string()),
                key: repeatable.as_ref().map(|repeatable| repeatable.key.key.clone()),
            },
            surroundings: Surroundings {
                clock: Arc::clone(&self.api.clock),
                ids: Arc::clone(&self.api.ids),
                bodies: Arc::clone(&self.api.bodies),
            },
            repeatable,
            response: Box::new(response),
        });
        let Ended { outcome, answer, held } = self.wait_for(told, &promise).await?.map_err(broken_off)?;
        let submitted = match outcome {
            Outcome::Done(_) => {
                self.api.pulse.served();
                Submitted::Answered(answer.ok_or_else(|| broken_off("it has no answer"))?)
            }
            Outcome::Repeated(record) => Submitted::Answered(idempotency::replayed(record)?),
            Outcome::KeyInUse => Submitted::KeyInUse,
            Outcome::KeyMisused => return Err(idempotency::misused()),
            Outcome::Refused(refusal) => return Err(refusal.into()),
        };
        Ok((submitted, held))
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Send(cause) => cause.into(),
            Refusal::DeleteUser(cause) => cause.into(),
            other => match other.into_failure() {
                Ok(cause) => cause.into(),
                Err(refused) => broken_off(refused), // only for commands of the operator
            },
        }
    }
}
