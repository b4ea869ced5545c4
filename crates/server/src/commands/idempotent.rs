//! `--key K`: a money command that can be repeated safely, through the same records as a POST (contract §6.1).

use std::time::Duration;

use guerdon_domain::ports::{Clock, IdempotencyKey, IdempotencyRecord, KEPT, StoreError, StoreExt, Tx};
use ring::digest::{SHA256, digest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CommandError, Output, View, Workplace};
use crate::world::SystemClock;

const ATTEMPTS: u32 = 40;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(50);
const DONE: u16 = 200;

/// The key of a command that may be repeated.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
pub struct Repeatable {
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

/// Runs `work` in one transaction: at most once per key. `what` is the command, by which a key's second use is
/// told from a repeat.
pub(super) fn once<V: View + DeserializeOwned>(
    workplace: &Workplace,
    repeatable: &Repeatable,
    what: &impl Serialize,
    mut work: impl FnMut(&mut dyn Tx) -> Result<V, CommandError>,
) -> Result<Output, CommandError> {
    let key = repeatable.key.as_ref().map(|key| IdempotencyKey { scope: Uuid::nil(), key: key.clone() });
    let what = serde_json::to_vec(what).map_err(|cause| CommandError::Failed(cause.to_string()))?;
    let request_hash = digest(&SHA256, &what).as_ref().to_vec();
    let mut attempt = || {
        workplace.store.transaction(|tx| match &key {
            None => work(tx)?.output(),
            Some(key) => keyed(tx, key, &request_hash, &mut work),
        })
    };
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        match attempt() {
            Err(CommandError::KeyInUse | CommandError::Store(StoreError::Contended)) if left > 0 => {
                std::thread::sleep(BETWEEN_ATTEMPTS); // tidy: another process may hold the key
            }
            done => return done,
        }
    }
}

fn keyed<V: View + DeserializeOwned>(
    tx: &mut dyn Tx,
    key: &IdempotencyKey,
    request_hash: &[u8],
    work: &mut impl FnMut(&mut dyn Tx) -> Result<V, CommandError>,
) -> Result<Output, CommandError> {
    if !tx.claim_key(key)? {
        return Err(CommandError::KeyInUse);
    }
    let now = SystemClock.now();
    if let Some(record) = tx.idempotency_record(key, now)? {
        return repeated::<V>(&record, request_hash);
    }
    let output = work(tx)?.output()?;
    tx.keep_idempotency_record(&IdempotencyRecord {
        key: key.clone(),
        request_hash: request_hash.to_vec(),
        status: DONE,
        body: output.json.clone().into_bytes(),
        created_at: now,
        expires_at: now + KEPT,
    })?;
    Ok(output)
}

fn repeated<V: View + DeserializeOwned>(
    record: &IdempotencyRecord,
    request_hash: &[u8],
) -> Result<Output, CommandError> {
    if record.request_hash != request_hash {
        return Err(CommandError::refused("this key was used for another command"));
    }
    let view: V = serde_json::from_slice(&record.body)
        .map_err(|cause| CommandError::Failed(format!("the record of this key cannot be read: {cause}")))?;
    view.output()
}
