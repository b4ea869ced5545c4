//! `--key K`: a money command that can be repeated safely, through the same records as a POST.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::causes::{Actor, By};
use guerdon_domain::commands::{Command, Done, Outcome, Render};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord, Repeatable};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::ProviderId;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CommandError, Output, Workplace};

const ATTEMPTS: u32 = 40;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);
const DONE: u16 = 200;

/// The key of a command that may be repeated.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
pub(crate) struct Keyed {
    /// Makes the command safe to repeat: the same key does it once and prints the same (up to 255 visible ASCII
    /// characters; kept for 72 hours).
    #[arg(long = "key", value_name = "K", value_parser = visible_ascii)]
    key: Option<String>,
}

fn visible_ascii(text: &str) -> Result<String, String> {
    if IdempotencyKey::is_key(text) {
        Ok(text.to_owned())
    } else {
        Err("must be 1 to 255 visible ASCII characters".to_owned())
    }
}

/// Carries out a command that moves points, for a provider: at most once per key. A repeat returns the first response, with a note
/// in its text. `what` identifies the command, so that its key is refused for another one; `tell` renders the result.
pub(super) fn carry_out(
    workplace: &Workplace,
    (provider, command): (ProviderId, Command),
    key: &Keyed,
    what: &impl Serialize,
    tell: impl Fn(Done) -> Result<Output, CommandError> + Send + Sync + 'static,
) -> Result<Output, CommandError> {
    let what = serde_json::to_vec(what)?;
    let repeatable = key.key.as_ref().map(|key| Repeatable {
        key: IdempotencyKey { scope: Uuid::nil(), key: key.clone() },
        request_hash: digest(&SHA256, &what).as_ref().to_vec(),
        kept: workplace.settings.retention.idempotency,
    });
    let by = By { actor: Actor::Operator, reference: workplace.user.clone(), key: key.key.clone() };
    let tell = Arc::new(tell);
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        let rendered = Arc::clone(&tell);
        let render: Box<Render> = Box::new(move |done| {
            let output = rendered(done.clone()).and_then(|it| Ok(serde_json::to_vec(&it)?));
            output.map(|body| (DONE, body)).map_err(|cause| StoreError::Broken(cause.to_string()))
        });
        let repeatable = repeatable.clone();
        let outcome = workplace.commands.wait(provider, by.clone(), command.clone(), repeatable, render);
        let cause = match outcome {
            Outcome::Done(done) => return tell(done),
            Outcome::Repeated(record) => return repeated(&record),
            Outcome::KeyMisused => {
                return Err(CommandError::refused("this key was used for another command"));
            }
            Outcome::KeyInUse => CommandError::KeyInUse,
            Outcome::Refused(refusal) => refusal.into(),
        };
        match cause {
            CommandError::KeyInUse | CommandError::Store(StoreError::Busy) if left > 0 => {
                std::thread::sleep(BETWEEN_ATTEMPTS); // tidy: another process may hold the key
            }
            cause => return Err(cause),
        }
    }
}

/// A command that ended as another one.
pub(super) fn unexpected(done: &Done) -> CommandError {
    CommandError::Failed(format!("the command did something else: {done:?}"))
}

fn repeated(record: &IdempotencyRecord) -> Result<Output, CommandError> {
    let output: Output = serde_json::from_slice(&record.body)
        .map_err(|cause| CommandError::Failed(format!("the record of this key cannot be read: {cause}")))?;
    let text = format!("{}\nalready done at {}: nothing was done again", output.text, record.created_at);
    Ok(Output { text, ..output })
}
