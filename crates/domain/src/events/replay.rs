//! Replays events.

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

/// Makes events due immediately, all or none. Returns the number of events that changed. Events that are no
/// longer pending start a new retry schedule, and pending events keep theirs. Events that are already due or
/// in flight do not change.
pub fn replay_by_ids<T: Replays + ?Sized>(
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

/// A selection of a provider's own events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplaySelection {
    /// Only events that were created at this time or later; `None` for any time.
    since: Option<Timestamp>,
    /// Only events in this state; `None` for any state.
    state: Option<EventState>,
}

impl ReplaySelection {
    /// Selects events by a time, by a state, or by both.
    ///
    /// # Errors
    ///
    /// If the selection would cover all events or all delivered events. The error describes the missing
    /// condition.
    pub fn from_filters(since: Option<Timestamp>, state: Option<EventState>) -> Result<Self, &'static str> {
        match (since, state) {
            (None, None) => Err("since or state is required"),
            (None, Some(EventState::Delivered)) => Err("state must not be delivered without since"),
            (since, state) => Ok(Self { since, state }),
        }
    }
}

/// Replays a selection of a provider's own events.
pub fn replay_own<T: Replays + ?Sized>(
    tx: &mut T,
    provider: ProviderId,
    selection: ReplaySelection,
    context: &Context<'_>,
) -> Result<usize, StoreError> {
    tx.replay_events_since(provider, selection.since, selection.state, context.clock.now())
}

/// Replays all pending, all exhausted or all unaddressed events of a provider.
pub fn replay_all<T: ReadProviders + Replays + ?Sized>(
    tx: &mut T,
    provider: ProviderId,
    state: EventState,
    context: &Context<'_>,
) -> Result<usize, ReplayError> {
    tx.find_provider(provider)?.ok_or(ReplayError::NoSuchProvider)?;
    Ok(tx.replay_events(provider, state, context.clock.now())?)
}
