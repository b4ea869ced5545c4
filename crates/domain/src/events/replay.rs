//! Sending events again.

use crate::model::EventState;
use crate::ports::{Context, ReadProviders, Replays, StoreError, Timestamp};
use crate::values::{EventId, ProviderId};

/// Why nothing was replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("no event has the id {0}")]
    NoSuchEvent(EventId),
    #[error("no provider has this id")]
    NoSuchProvider,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes events due at once, all or none; answers how many. Those that ended go on a schedule that begins anew, those that
/// wait on the one they have; those that are due or under way stay as they are.
pub fn replay<T: Replays + ?Sized>(
    tx: &mut T,
    ids: &[EventId],
    context: &Context<'_>,
) -> Result<usize, ReplayError> {
    let mut replayed = 0;
    for id in ids {
        match tx.replay_event(*id, context.clock.now())? {
            Some(done) => replayed += usize::from(done),
            None => return Err(ReplayError::NoSuchEvent(*id)),
        }
    }
    Ok(replayed)
}

/// Which of a provider's own events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// Those that were caused then or later.
    since: Timestamp,
    /// Those in one state, or in any.
    state: Option<EventState>,
}

impl Replayed {
    /// What a provider asks for by a moment, by a state, or by both.
    ///
    /// # Errors
    ///
    /// What is missing, where that would be all events there are, or all that were delivered.
    pub fn asked(since: Option<Timestamp>, state: Option<EventState>) -> Result<Self, &'static str> {
        match (since, state) {
            (None, None) => Err("since or state is required"),
            (None, Some(EventState::Delivered)) => Err("state must not be delivered without since"),
            (since, state) => Ok(Self { since: since.unwrap_or(Timestamp::UNIX_EPOCH), state }),
        }
    }
}

/// Does so with some of a provider's own.
pub fn replay_own<T: Replays + ?Sized>(
    tx: &mut T,
    provider: ProviderId,
    which: Replayed,
    context: &Context<'_>,
) -> Result<usize, StoreError> {
    tx.replay_since(provider, which.since, which.state, context.clock.now())
}

/// Does so with all of a provider's events that are exhausted, or unaddressed.
pub fn replay_all<T: ReadProviders + Replays + ?Sized>(
    tx: &mut T,
    provider: ProviderId,
    state: EventState,
    context: &Context<'_>,
) -> Result<usize, ReplayError> {
    tx.provider(provider)?.ok_or(ReplayError::NoSuchProvider)?;
    Ok(tx.replay_events(provider, state, context.clock.now())?)
}
