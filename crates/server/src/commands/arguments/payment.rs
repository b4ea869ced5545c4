//! What the commands about points have in common: the number of points, `--key`, and execution at most once per
//! key. Keys are stored in the same idempotency records as those of POST requests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use guerdon_domain::commands::{Command, Done, Outcome, ResponseRenderer};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord, IdempotentRequest, KeyState};
use guerdon_domain::journal::Requester;
use guerdon_domain::ports::{StoreError, StoreExt as _, Tx};
use guerdon_domain::values::{CompanyId, ProviderId};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::points_argument::PointsArgument;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput};

/// How long a command is retried while another process holds its key or the store is busy.
const RETRY_DURATION_MAX: Duration = Duration::from_secs(2);
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// The status that is stored with the response of a command.
const STATUS_DONE: u16 = 200;

/// How many points to move, and the idempotency key.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct PaymentArguments {
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) sum: PointsArgument,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) key: IdempotencyKeyArgument,
}

/// The idempotency key of a command.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
pub(crate) struct IdempotencyKeyArgument {
    /// Idempotency key, which makes a retry safe: the command runs once per key, and a retry prints the same output
    /// (1 to 255 visible ASCII characters, stored for retention.idempotency_hours, 72 by default).
    #[arg(long = "key", value_name = "KEY", value_parser = parse_key)]
    key: Option<String>,
}

fn parse_key(text: &str) -> Result<String, String> {
    if IdempotencyKey::is_valid_key(text) {
        Ok(text.to_owned())
    } else {
        Err("must be 1 to 255 visible ASCII characters".to_owned())
    }
}

impl IdempotencyKeyArgument {
    /// Returns the request with this key; `None` without a key. All commands of the operator share one key scope.
    /// `request` identifies the command, so that its key is refused for another command.
    fn to_request(
        &self,
        environment: &CommandEnvironment,
        request: &impl Serialize,
    ) -> Result<Option<IdempotentRequest>, CommandError> {
        let request = serde_json::to_vec(request)?;
        Ok(self.key.as_ref().map(|key| IdempotentRequest {
            key: IdempotencyKey { scope: Uuid::nil(), key: key.clone() },
            request_hash: digest(&SHA256, &request).as_ref().to_vec(),
            retention: environment.settings.retention.idempotency,
        }))
    }

    /// Returns the output of an earlier execution with this key, if any. A command calls this before it looks up a user
    /// by email, because the address may have changed since, or belong to another user.
    pub(crate) fn find_output(
        &self,
        environment: &CommandEnvironment,
        request: &impl Serialize,
    ) -> Result<Option<CommandOutput>, CommandError> {
        let Some(request) = self.to_request(environment, request)? else { return Ok(None) };
        let now = environment.context().clock.now();
        let record = environment.store.transaction(|tx| tx.find_idempotency_record(&request.key, now))?;
        let record = record.filter(|record| record.request_hash == request.request_hash);
        record.as_ref().map(render_stored_output).transpose()
    }

    fn misuse_error(&self) -> CommandError {
        let key = self.key.as_deref().unwrap_or_default();
        CommandError::Refused(format!(
            "the key {key} was used for a different command, or the user was given differently (id or email): check what that \
             command did before you use a new key"
        ))
    }
}

/// Executes a command that moves points, at most once per key. A retry returns the first output with a note in its
/// text. `request` identifies the command. `render` creates the output.
pub(crate) fn execute_once(
    environment: &CommandEnvironment,
    provider: ProviderId,
    command: Command,
    key: &IdempotencyKeyArgument,
    request: &impl Serialize,
    render: impl Fn(&Done) -> Result<CommandOutput, CommandError> + Send + Sync + 'static,
) -> Result<CommandOutput, CommandError> {
    let idempotent_request = key.to_request(environment, request)?;
    let requester = Requester { key: key.key.clone(), ..environment.requester.clone() };
    let render = Arc::new(render);
    retry_while_busy(|| {
        let shared_render = Arc::clone(&render);
        let render_body: Box<ResponseRenderer> = Box::new(move |done| {
            let output = shared_render(done).and_then(|output| Ok(serde_json::to_vec(&output)?));
            output.map(|body| (STATUS_DONE, body)).map_err(|cause| StoreError::Broken(cause.to_string()))
        });
        let outcome = environment.commands.submit_and_wait(
            provider,
            requester.clone(),
            command.clone(),
            idempotent_request.clone(),
            render_body,
        );
        match outcome {
            Outcome::Done(done) => render(&done),
            Outcome::AlreadyExecuted(record) => render_stored_output(&record),
            Outcome::KeyMisused => Err(key.misuse_error()),
            Outcome::KeyInUse => Err(CommandError::KeyInUse),
            Outcome::Refused(refusal) => Err(refusal.into()),
        }
    })
}

/// Executes a command in one transaction, at most once per key, like [`execute_once`]. The stored output belongs to
/// `company`.
pub(crate) fn execute_once_in_transaction(
    environment: &CommandEnvironment,
    company: CompanyId,
    key: &IdempotencyKeyArgument,
    request: &impl Serialize,
    work: impl Fn(&mut dyn Tx) -> Result<CommandOutput, CommandError>,
) -> Result<CommandOutput, CommandError> {
    let request = key.to_request(environment, request)?;
    retry_while_busy(|| {
        environment.store.transaction(|tx| {
            let Some(request) = &request else { return work(tx) };
            let now = environment.context().clock.now();
            match request.claim_key(tx, now)? {
                KeyState::Unused => {}
                KeyState::Completed(record) => return render_stored_output(&record),
                KeyState::InFlight => return Err(CommandError::KeyInUse),
                KeyState::Misused => return Err(key.misuse_error()),
            }
            let output = work(tx)?;
            request.store_response(tx, Some(company), (STATUS_DONE, serde_json::to_vec(&output)?), now)?;
            Ok(output)
        })
    })
}

/// Retries a command while another process holds its key or the store is busy.
fn retry_while_busy(
    mut execute: impl FnMut() -> Result<CommandOutput, CommandError>,
) -> Result<CommandOutput, CommandError> {
    let start = Instant::now();
    loop {
        let result = execute();
        let is_busy = matches!(result, Err(CommandError::KeyInUse | CommandError::Store(StoreError::Busy)));
        if !is_busy || start.elapsed() >= RETRY_DURATION_MAX {
            return result;
        }
        std::thread::sleep(RETRY_INTERVAL); // tidy: another process may hold the key
    }
}

/// The error for a result that does not belong to the executed kind of command, which would be a bug.
pub(crate) fn unexpected_outcome(done: &Done) -> CommandError {
    CommandError::Failed(format!("internal error: unexpected result of the command: {done:?}"))
}

fn render_stored_output(record: &IdempotencyRecord) -> Result<CommandOutput, CommandError> {
    let output: CommandOutput = serde_json::from_slice(&record.body)
        .map_err(|cause| CommandError::Failed(format!("the record of this key cannot be read: {cause}")))?;
    let text = format!("{}\nalready done at {}; no change", output.text, record.created_at);
    Ok(CommandOutput { text, ..output })
}
