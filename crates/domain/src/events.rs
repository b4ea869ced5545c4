//! Events: their kinds and states, the facts that their bodies must contain, and replays.

use crate::ports::{Context, ReadProviders, ReplayCursor, ReplayQuery, Replays, StoreError, Timestamp};
use crate::values::{EventId, ProviderId};

pub use crate::model::EventFacts;
pub use crate::model::event::*;

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

/// The maximum number of events that one step of a [`BulkReplay`] examines.
const STEP_EVENTS_MAX: usize = 2_000;

/// The order in which the states are replayed. Without a callback URL, replayed events become unaddressed before the
/// replay ends. With this order they are not replayed again as unaddressed events.
const STATE_ORDER: [EventState; 4] =
    [EventState::Unaddressed, EventState::Delivered, EventState::Pending, EventState::Exhausted];

/// A replay of many events of a provider. It is executed in steps, each in its own transaction, so that no transaction
/// reads or changes many rows.
///
/// If a step fails, the events of the earlier steps remain replayed. Another replay with the same filters continues
/// with the rest, because replayed events are due already. But it may replay events again that were delivered or failed
/// since, and it starts from the first delivered event if it includes delivered events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkReplay {
    /// Only events that were created at this time or later; `None` for any time.
    since: Option<Timestamp>,
    /// The time of the first step. Later steps leave out events with an attempt since then, which may be attempts of
    /// this replay.
    started_at: Option<Timestamp>,
    /// The states whose events are not replayed yet. The first one is in progress.
    states: Vec<EventState>,
    /// The last event of the state in progress that was examined.
    after: Option<ReplayCursor>,
    /// The number of events that were replayed so far.
    replayed: usize,
}

/// The result of a step of a [`BulkReplay`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayStep {
    /// The rest of the replay, for the next step.
    Continue(BulkReplay),
    /// The replay is complete: the number of events that all steps replayed.
    Done(usize),
}

impl ReplayStep {
    /// The number of events that this step and the earlier ones replayed.
    pub const fn replayed(&self) -> usize {
        match self {
            Self::Continue(rest) => rest.replayed,
            Self::Done(replayed) => *replayed,
        }
    }
}

impl BulkReplay {
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
            (since, Some(state)) => Ok(Self::new(since, &[state])),
            (since, None) => Ok(Self::new(since, &STATE_ORDER)),
        }
    }

    /// Selects all events in any of these states. `Delivered` is ignored.
    pub fn of_states(states: &[EventState]) -> Self {
        let states: Vec<EventState> =
            states.iter().copied().filter(|state| *state != EventState::Delivered).collect();
        Self::new(None, &states)
    }

    fn new(since: Option<Timestamp>, states: &[EventState]) -> Self {
        let states = STATE_ORDER.into_iter().filter(|state| states.contains(state)).collect();
        Self { since, started_at: None, states, after: None, replayed: 0 }
    }

    /// Replays the next of the provider's own events. Changes nothing but the database, so a transaction can run it
    /// again.
    pub fn run_step<T: Replays + ?Sized>(
        &self,
        tx: &mut T,
        provider: ProviderId,
        context: &Context<'_>,
    ) -> Result<ReplayStep, StoreError> {
        let now = context.clock.now();
        let mut rest = self.clone();
        rest.started_at.get_or_insert(now);
        let mut limit = STEP_EVENTS_MAX;
        while let Some(state) = rest.states.first().copied() {
            let (since, not_attempted_since, after) = (self.since, self.started_at, rest.after);
            let query = ReplayQuery { provider, state, since, not_attempted_since, after, limit };
            let page = tx.replay_page(&query, now)?;
            rest.replayed += page.replayed;
            rest.after = page.last;
            if page.examined >= limit {
                return Ok(ReplayStep::Continue(rest));
            }
            limit -= page.examined;
            rest.states.remove(0);
            rest.after = None;
        }
        Ok(ReplayStep::Done(rest.replayed))
    }
}

/// Runs a step of a replay that the operator requested. Fails if the provider does not exist.
pub fn run_operator_replay_step<T: ReadProviders + Replays + ?Sized>(
    tx: &mut T,
    provider: ProviderId,
    replay: &BulkReplay,
    context: &Context<'_>,
) -> Result<ReplayStep, ReplayError> {
    tx.find_provider(provider)?.ok_or(ReplayError::NoSuchProvider)?;
    Ok(replay.run_step(tx, provider, context)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use uuid::Uuid;

    use super::*;
    use crate::memory::{FixedClock, PlainBodies, SequentialIds};
    use crate::model::Requester;
    use crate::ports::ReplayedPage;

    /// The events of a provider: the number of events in each state, and the queries that were sent.
    struct CountedEvents {
        numbers: BTreeMap<i16, usize>,
        queries: Vec<(EventState, usize)>,
    }

    impl Replays for CountedEvents {
        fn replay_event(&mut self, _id: EventId, _now: Timestamp) -> Result<Option<bool>, StoreError> {
            Ok(None)
        }

        /// The key of a cursor is the number of events up to it.
        fn replay_page(&mut self, query: &ReplayQuery, _now: Timestamp) -> Result<ReplayedPage, StoreError> {
            self.queries.push((query.state, query.limit));
            let number = self.numbers.get(&query.state.code()).copied().unwrap_or_default();
            let passed = query.after.map_or(0, |after| usize::try_from(after.key).unwrap());
            let examined = query.limit.min(number - passed);
            let key = i64::try_from(passed + examined).unwrap();
            let last = (examined > 0).then(|| ReplayCursor { key, id: EventId::from_uuid(Uuid::nil()) });
            Ok(ReplayedPage { examined, replayed: examined, last })
        }
    }

    /// The number of events that were replayed after a step, and the step's queries.
    type Step = (usize, Vec<(EventState, usize)>);

    fn run_steps(mut replay: BulkReplay, numbers: &[(EventState, usize)]) -> Vec<Step> {
        let numbers = numbers.iter().map(|(state, number)| (state.code(), *number)).collect();
        let mut events = CountedEvents { numbers, queries: Vec::new() };
        let (clock, ids) = (FixedClock(Timestamp::UNIX_EPOCH), SequentialIds::default());
        let requester = &Requester::OPERATOR;
        let context = Context { clock: &clock, ids: &ids, bodies: &PlainBodies, requester };
        let mut steps = Vec::new();
        loop {
            let step = replay.run_step(&mut events, ProviderId::from_uuid(Uuid::nil()), &context).unwrap();
            steps.push((step.replayed(), std::mem::take(&mut events.queries)));
            match step {
                ReplayStep::Continue(rest) => replay = rest,
                ReplayStep::Done(_) => return steps,
            }
        }
    }

    #[test]
    fn a_step_examines_a_bounded_number_of_events_of_all_states() {
        use EventState::{Delivered, Exhausted, Pending, Unaddressed};
        const MAX: usize = STEP_EVENTS_MAX;
        let since = BulkReplay::from_filters(Some(Timestamp::UNIX_EPOCH), None).unwrap();
        let few = [(Delivered, 3), (Pending, 2), (Exhausted, 1)];
        let queries = vec![(Unaddressed, MAX), (Delivered, MAX), (Pending, MAX - 3), (Exhausted, MAX - 5)];
        assert_eq!(run_steps(since.clone(), &few), [(6, queries)]);
        let many = [(Delivered, MAX + 1), (Pending, MAX - 1)];
        let steps = [
            (MAX, vec![(Unaddressed, MAX), (Delivered, MAX)]),
            (2 * MAX, vec![(Delivered, MAX), (Pending, MAX - 1)]),
            (2 * MAX, vec![(Pending, MAX), (Exhausted, MAX)]),
        ];
        assert_eq!(run_steps(since, &many), steps);
        let exhausted = BulkReplay::of_states(&[Exhausted, Delivered]);
        let steps = [(MAX, vec![(Exhausted, MAX)]), (MAX, vec![(Exhausted, MAX)])];
        assert_eq!(run_steps(exhausted, &[(Delivered, 9), (Exhausted, MAX)]), steps);
    }
}
