//! `--key K`: a money command that can be repeated safely, through the same records as a POST.

use std::time::Duration;

use guerdon_domain::idempotency::{Begun, IdempotencyKey, IdempotencyRecord, Repeatable};
use guerdon_domain::ports::{Context, StoreError, StoreExt, Tx};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CommandError, Output, View, Workplace};

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

/// Runs `work` in one transaction: at most once per key; a repeat is answered as the first was, and says so to people.
/// `what` is the command, by which a key's second use is told from a repeat.
pub(super) fn once<V: View>(
    workplace: &Workplace,
    key: &Keyed,
    what: &impl Serialize,
    mut work: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<V, CommandError>,
) -> Result<Output, CommandError> {
    let context = workplace.context_for(key.key.as_deref());
    let what = serde_json::to_vec(what).map_err(|cause| CommandError::Failed(cause.to_string()))?;
    let request_hash = digest(&SHA256, &what).as_ref().to_vec();
    let repeatable = key.key.as_ref().map(|key| Repeatable {
        key: IdempotencyKey { scope: Uuid::nil(), key: key.clone() },
        request_hash,
        kept: workplace.settings.retention.idempotency,
    });
    let mut attempt = || {
        workplace.store.transaction(|tx| match &repeatable {
            None => work(tx, &context)?.output(),
            Some(it) => keyed(tx, it, &context, &mut work),
        })
    };
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        match attempt() {
            Err(CommandError::KeyInUse | CommandError::Store(StoreError::Busy)) if left > 0 => {
                std::thread::sleep(BETWEEN_ATTEMPTS); // tidy: another process may hold the key
            }
            done => return done,
        }
    }
}

fn keyed<V: View>(
    tx: &mut dyn Tx,
    repeatable: &Repeatable,
    context: &Context<'_>,
    work: &mut impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<V, CommandError>,
) -> Result<Output, CommandError> {
    match repeatable.begin(tx, context.clock.now())? {
        Begun::First => {}
        Begun::Repeat(record) => return repeated(&record),
        Begun::InFlight => return Err(CommandError::KeyInUse),
        Begun::Misused => return Err(CommandError::refused("this key was used for another command")),
    }
    let output = work(tx, context)?.output()?;
    repeatable.keep(tx, DONE, serde_json::to_vec(&output)?, context.clock.now())?;
    Ok(output)
}

fn repeated(record: &IdempotencyRecord) -> Result<Output, CommandError> {
    let output: Output = serde_json::from_slice(&record.body)
        .map_err(|cause| CommandError::Failed(format!("the record of this key cannot be read: {cause}")))?;
    let text = format!("{}\nalready done at {}: nothing was done again", output.text, record.created_at);
    Ok(Output { text, ..output })
}
