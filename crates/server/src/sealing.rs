//! Sealing: chaining what is committed, off the way of requests.

use guerdon_domain::ports::{Context, Seal, Store, StoreError, StoreExt};

/// How many causes one seal holds at most: few enough that one is made in moments.
const CAUSES_MAX: i64 = 20_000;

/// Seals what is new, a bounded part of it; none where nothing is, or another process did.
pub(crate) fn seal(store: &dyn Store, context: &Context<'_>) -> Result<Option<Seal>, StoreError> {
    let now = context.clock.now();
    let next = store.snapshot(|reads| reads.next_seal(now, CAUSES_MAX))?;
    let Some(next) = next else { return Ok(None) };
    let written = store.transaction(|tx| tx.insert_seal(&next))?;
    Ok(written.then_some(next.seal))
}

/// Seals all that is committed; answers the latest seal, which is none where nothing was ever committed.
pub(crate) fn seal_all(store: &dyn Store, context: &Context<'_>) -> Result<Option<Seal>, StoreError> {
    while seal(store, context)?.is_some() {}
    store.snapshot(|reads| reads.last_seal())
}
