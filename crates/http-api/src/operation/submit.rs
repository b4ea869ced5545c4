//! Submits a command that moves points and waits for its outcome, without occupying a thread.

use std::sync::Arc;

use guerdon_domain::commands::{Command, Done, Outcome, OutcomeReceiver, Refusal, Submission};
use guerdon_domain::idempotency::IdempotentRequest;
use guerdon_domain::ports::{Consistency, StoreError};
use tokio::sync::oneshot::{self, Sender};

use super::idempotency;
use super::read::read_blocking;
use crate::health::RequestKind;
use crate::operation::{ApiError, ApiState, Call, CommitDecision, RenderedResponse};

/// Renders the result of a command.
pub(crate) type RenderResponse = fn(&Done) -> Result<RenderedResponse, ApiError>;

/// A command that has ended: its outcome, the last rendered response, and the resources that were held for it.
type EndedCommand<H> = (Outcome, Option<RenderedResponse>, H);

/// A request that waits for the outcome of its command.
struct PendingResponse<H> {
    render: RenderResponse,
    has_idempotency_key: bool,
    rendered: Option<RenderedResponse>,
    decision: Arc<CommitDecision>,
    sender: Sender<EndedCommand<H>>,
    resources: H,
}

impl<H: Send> OutcomeReceiver for PendingResponse<H> {
    fn render_response(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        let to_store_error =
            |error: ApiError| StoreError::Broken(error.internal_cause_or_message().to_owned());
        let rendered = (self.render)(done).map_err(to_store_error)?;
        let body = if self.has_idempotency_key {
            idempotency::pack_body(&rendered).map_err(to_store_error)?
        } else {
            Vec::new()
        };
        let status = rendered.status.as_u16();
        self.rendered = Some(rendered);
        Ok((status, body))
    }

    fn confirm_execution(&self) -> bool {
        self.decision.decide_commit()
    }

    fn receive_outcome(self: Box<Self>, outcome: Outcome) {
        let Self { rendered, sender, resources, .. } = *self;
        drop(sender.send((outcome, rendered, resources))); // the client may have disconnected
    }
}

impl ApiState {
    /// Submits a command and waits for its outcome. Fails with 401 if the caller lost access while the request waited.
    /// Returns the response with `resources`, or `None` if another request holds the idempotency key. If the client
    /// disconnects, `resources` are dropped when the command has ended.
    pub(crate) async fn submit_command<H: Send + 'static>(
        self: &Arc<Self>,
        call: &Call,
        command: Command,
        idempotent_request: Option<IdempotentRequest>,
        render: RenderResponse,
        resources: H,
    ) -> Result<Option<(RenderedResponse, H)>, ApiError> {
        if !call.caller.is_current() {
            // The queue knows nothing about credentials, so they are confirmed in a read of their own.
            read_blocking(self, call.caller.clone(), Consistency::PerStatement, |_reads| Ok(())).await?;
        }
        self.require_database(RequestKind::Write)?;
        let decision = Arc::<CommitDecision>::default();
        let (sender, receiver) = oneshot::channel();
        let response = PendingResponse {
            render,
            has_idempotency_key: idempotent_request.is_some(),
            rendered: None,
            decision: Arc::clone(&decision),
            sender,
            resources,
        };
        self.api.command_queue.submit_command(Submission {
            command,
            provider: call.scope,
            requester: call.requester(idempotent_request.as_ref()),
            context_sources: self.api.context_sources.clone(),
            idempotent_request,
            outcome_receiver: Box::new(response),
        });
        let ended = self.await_store(RequestKind::Write, receiver, &decision).await?;
        let (outcome, rendered, resources) = ended.map_err(|_dropped| Outcome::dropped_receiver_error())?;
        let response = match outcome {
            Outcome::Done(_) => {
                self.api.database_health.record_success();
                rendered.ok_or_else(|| ApiError::internal("a command was executed without a response"))?
            }
            Outcome::AlreadyExecuted(record) => idempotency::replay_response(record)?,
            Outcome::KeyInUse => return Ok(None),
            Outcome::KeyMisused => return Err(ApiError::key_reused()),
            Outcome::Refused(refusal) => return Err(refusal.into()),
        };
        Ok(Some((response, resources)))
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Send(cause) => cause.into(),
            Refusal::DeleteUser(cause) => cause.into(),
            other => match other.into_failure() {
                Ok(cause) => cause.into(),
                Err(refused) => ApiError::internal(format!(
                    "a request was refused with an error of the operator's commands: {refused}"
                )),
            },
        }
    }
}
