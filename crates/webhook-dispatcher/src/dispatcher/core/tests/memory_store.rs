//! A delivery store in memory. It is as strict as the stores in databases: the contract tests in `testing` run on all
//! of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{
    Attempt, CLOCK_TOLERANCE, ClaimRequest, ClaimedBatch, ClaimedEvent, DeliveryOutcome, Settlement,
    StoreError, Timestamp,
};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{CompanyId, EventId, ProviderId};
use uuid::Uuid;

use super::build_provider;
use crate::dispatcher::delivery_store::{ClaimResult, DeliveryStore};
use crate::mutex::lock_mutex;

pub(in crate::dispatcher) struct DeliveryRow {
    pub(in crate::dispatcher) provider: ProviderId,
    pub(in crate::dispatcher) state: EventState,
    pub(in crate::dispatcher) due: Timestamp,
    /// The recorded attempts.
    pub(in crate::dispatcher) attempts: Vec<Attempt>,
    /// The number of counted attempts: those that were settled under a valid lease.
    pub(in crate::dispatcher) attempts_made: u32,
    pub(in crate::dispatcher) attempts_before_replay: u32,
    pub(in crate::dispatcher) lease: Option<Uuid>,
}

#[derive(Default)]
pub(in crate::dispatcher) struct OutboxData {
    pub(in crate::dispatcher) rows: BTreeMap<EventId, DeliveryRow>,
    pub(in crate::dispatcher) providers: HashMap<ProviderId, Provider>,
    /// Pending events, ordered by the time from which they can be claimed.
    due: BTreeMap<ProviderId, BTreeSet<(Timestamp, EventId)>>,
    pub(in crate::dispatcher) is_unavailable: bool,
    /// Whether settlements are written but reported as failed.
    pub(in crate::dispatcher) loses_confirmations: bool,
    pub(in crate::dispatcher) confirmations_lost: usize,
    pub(in crate::dispatcher) failing_event: Option<EventId>,
}

#[derive(Default)]
pub(in crate::dispatcher) struct MemoryDeliveryStore(Mutex<OutboxData>);

impl MemoryDeliveryStore {
    pub(in crate::dispatcher) fn with_data<T>(&self, work: impl FnOnce(&mut OutboxData) -> T) -> T {
        work(&mut lock_mutex(&self.0))
    }

    pub(in crate::dispatcher) fn add_event(&self, event: EventId, provider: u64, due: Timestamp) {
        let provider = build_provider(provider);
        let id = provider.id;
        self.with_data(|data| {
            data.providers.entry(id).or_insert(provider);
        });
        self.insert_event(event, id, due);
    }

    pub(super) fn insert_event(&self, event: EventId, provider: ProviderId, due: Timestamp) {
        self.with_data(|data| {
            let row = DeliveryRow {
                provider,
                state: EventState::Pending,
                due,
                attempts: Vec::new(),
                attempts_made: 0,
                attempts_before_replay: 0,
                lease: None,
            };
            assert!(data.rows.insert(event, row).is_none());
            data.due.entry(provider).or_default().insert((due, event));
        });
    }

    pub(in crate::dispatcher) fn replay_event(&self, event: EventId, due: Timestamp) {
        self.with_data(|data| {
            let row = data.rows.get_mut(&event).unwrap();
            let waiting = data.due.get_mut(&row.provider).unwrap();
            if row.state == EventState::Pending {
                if row.lease.is_some() || row.due <= due {
                    return;
                }
                waiting.remove(&(row.due, event));
            } else {
                row.attempts_before_replay = row.attempts_made;
            }
            row.state = EventState::Pending;
            row.due = due;
            waiting.insert((due, event));
        });
    }

    pub(in crate::dispatcher) fn count_in_state(&self, state: EventState) -> usize {
        self.with_data(|data| data.rows.values().filter(|row| row.state == state).count())
    }
}

impl OutboxData {
    fn is_suspended(&self, id: ProviderId) -> bool {
        self.providers.get(&id).is_none_or(|provider| provider.suspended)
    }

    /// Returns each provider that is not suspended, with the time when its first event is due.
    fn first_due_times(&self) -> impl Iterator<Item = (ProviderId, Timestamp)> {
        let of_active = self.due.iter().filter(|(id, _)| !self.is_suspended(**id));
        of_active.filter_map(|(id, due)| Some((*id, due.first()?.0)))
    }

    fn claim_events(&mut self, claim: &ClaimRequest) -> Option<ClaimedBatch> {
        if self.is_suspended(claim.provider) {
            return None;
        }
        let due = self.due.get_mut(&claim.provider)?;
        let found = due.iter().take_while(|(at, _)| *at <= claim.now).take(claim.limit.into());
        let mut events = Vec::new();
        for (at, id) in found.copied().collect::<Vec<_>>() {
            due.remove(&(at, id));
            due.insert((claim.lease_until, id));
            let row = self.rows.get_mut(&id).unwrap();
            row.due = claim.lease_until;
            row.lease = Some(claim.lease);
            events.push(ClaimedEvent {
                company_id: CompanyId::from_uuid(Uuid::nil()),
                id,
                body: Vec::new(),
                attempts: row.attempts_made,
                attempts_before_replay: row.attempts_before_replay,
            });
        }
        let provider = self.providers[&claim.provider].clone();
        Some(ClaimedBatch { provider, events }).filter(|claimed| !claimed.events.is_empty())
    }

    fn apply_settlement(&mut self, settlement: &Settlement) {
        let row = self.rows.get_mut(&settlement.event).unwrap();
        let (mut outcome, mut counted) = (settlement.outcome, 0);
        if let Some(attempt) = &settlement.attempt {
            if row.attempts.iter().any(|known| known.id == attempt.id) {
                outcome = settlement.outcome_after_reclaim();
            } else {
                row.attempts.push(attempt.clone());
                counted = 1;
            }
        }
        if row.lease != Some(settlement.lease) {
            return;
        }
        row.lease = None;
        row.attempts_made += counted;
        let due = self.due.get_mut(&row.provider).unwrap();
        assert!(due.remove(&(row.due, settlement.event)));
        row.state = match outcome {
            DeliveryOutcome::Delivered => EventState::Delivered,
            DeliveryOutcome::Exhausted => EventState::Exhausted,
            DeliveryOutcome::Unaddressed => EventState::Unaddressed,
            DeliveryOutcome::RetryAt(at) | DeliveryOutcome::Released(at) => {
                row.due = at;
                due.insert((at, settlement.event));
                EventState::Pending
            }
        };
    }
}

impl DeliveryStore for MemoryDeliveryStore {
    fn claim_due_events(
        &self,
        now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<ClaimRequest>,
    ) -> Result<ClaimResult, StoreError> {
        self.with_data(|data| {
            if data.is_unavailable {
                return Err(StoreError::Unavailable("away".to_owned()));
            }
            let mut providers: Vec<_> =
                data.first_due_times().filter(|(_, due)| *due <= now).map(|(id, _)| id).collect();
            providers.sort_unstable();
            if providers.is_empty() {
                let next = data.first_due_times().map(|(_, due)| due).min();
                return Ok(ClaimResult { next_due: next, ..ClaimResult::default() });
            }
            // A store may run a unit of work twice, and the plan of the first run must have no effect.
            let _lost_the_race = plan(&providers);
            let claims = plan(&providers);
            let claimed = claims.iter().filter_map(|claim| data.claim_events(claim)).collect();
            Ok(ClaimResult { due_providers: providers, claimed, next_due: None })
        })
    }

    fn reschedule_after_clock_change(
        &self,
        now: Timestamp,
        waits: &[Duration],
        lease: Duration,
    ) -> Result<usize, StoreError> {
        self.with_data(|data| {
            if data.is_unavailable {
                return Err(StoreError::Unavailable("away".to_owned()));
            }
            let mut count = 0;
            for (id, row) in data.rows.iter_mut().filter(|(_, row)| row.state == EventState::Pending) {
                let failed = usize::try_from(row.attempts_made - row.attempts_before_replay).unwrap();
                let latest = if row.lease.is_some() { Some(lease) } else { waits.get(failed).copied() };
                let latest = latest.map_or(row.due, |wait| now + wait);
                if row.due > latest + CLOCK_TOLERANCE {
                    let due = data.due.get_mut(&row.provider).unwrap();
                    due.remove(&(row.due, *id));
                    due.insert((latest, *id));
                    row.due = latest;
                    count += 1;
                }
            }
            Ok(count)
        })
    }

    fn record_settlements(&self, settlements: &[Settlement]) -> Result<(), StoreError> {
        self.with_data(|data| {
            if data.is_unavailable
                || settlements.iter().any(|settlement| Some(settlement.event) == data.failing_event)
            {
                return Err(StoreError::Unavailable("away".to_owned()));
            }
            settlements.iter().for_each(|settlement| data.apply_settlement(settlement));
            if data.loses_confirmations {
                data.confirmations_lost += 1;
                return Err(StoreError::Unavailable("the confirmation was lost".to_owned()));
            }
            Ok(())
        })
    }
}
