//! A journal in memory, as strict as the one in the databases: the suite in `testing` runs on both.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{
    Attempt, CLOCK_TOLERANCE, Claim, Claimed, ClaimedEvent, Fate, Settlement, StoreError, Timestamp,
};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{CompanyId, EventId, ProviderId};
use uuid::Uuid;

use super::provider;
use crate::dispatcher::journal::{Journal, Look};
use crate::dispatcher::step::hold;

pub(in crate::dispatcher) struct Row {
    pub(in crate::dispatcher) provider: ProviderId,
    pub(in crate::dispatcher) state: EventState,
    pub(in crate::dispatcher) due: Timestamp,
    /// The recorded attempts.
    pub(in crate::dispatcher) attempts: Vec<Attempt>,
    /// The number of recorded attempts that count: those settled under a valid lease.
    pub(in crate::dispatcher) attempts_made: u32,
    pub(in crate::dispatcher) attempts_before_replay: u32,
    pub(in crate::dispatcher) lease: Option<Uuid>,
}

#[derive(Default)]
pub(in crate::dispatcher) struct Book {
    pub(in crate::dispatcher) rows: BTreeMap<EventId, Row>,
    pub(in crate::dispatcher) providers: HashMap<ProviderId, Provider>,
    /// Pending events by the time from which they can be claimed.
    due: BTreeMap<ProviderId, BTreeSet<(Timestamp, EventId)>>,
    pub(in crate::dispatcher) is_away: bool,
    /// Whether settlements are written but reported as failed.
    pub(in crate::dispatcher) loses_answers: bool,
    pub(in crate::dispatcher) answers_lost: usize,
    pub(in crate::dispatcher) refuses: Option<EventId>,
}

#[derive(Default)]
pub(in crate::dispatcher) struct Memory(Mutex<Book>);

impl Memory {
    pub(in crate::dispatcher) fn with<T>(&self, work: impl FnOnce(&mut Book) -> T) -> T {
        work(&mut hold(&self.0))
    }

    pub(in crate::dispatcher) fn add(&self, event: EventId, owner: u64, due: Timestamp) {
        let owner = provider(owner);
        let id = owner.id;
        self.with(|book| {
            book.providers.entry(id).or_insert(owner);
        });
        self.add_to(event, id, due);
    }

    pub(super) fn add_to(&self, event: EventId, provider: ProviderId, due: Timestamp) {
        self.with(|book| {
            let row = Row {
                provider,
                state: EventState::Pending,
                due,
                attempts: Vec::new(),
                attempts_made: 0,
                attempts_before_replay: 0,
                lease: None,
            };
            assert!(book.rows.insert(event, row).is_none());
            book.due.entry(provider).or_default().insert((due, event));
        });
    }

    pub(in crate::dispatcher) fn replay(&self, event: EventId, due: Timestamp) {
        self.with(|book| {
            let row = book.rows.get_mut(&event).unwrap();
            let waiting = book.due.get_mut(&row.provider).unwrap();
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

    pub(in crate::dispatcher) fn count(&self, state: EventState) -> usize {
        self.with(|book| book.rows.values().filter(|row| row.state == state).count())
    }
}

impl Book {
    fn is_suspended(&self, id: ProviderId) -> bool {
        self.providers.get(&id).is_none_or(|provider| provider.suspended)
    }

    /// Returns when the first event of each provider is due, without suspended providers.
    fn firsts(&self) -> impl Iterator<Item = (ProviderId, Timestamp)> {
        let of_active = self.due.iter().filter(|(id, _)| !self.is_suspended(**id));
        of_active.filter_map(|(id, due)| Some((*id, due.first()?.0)))
    }

    fn claim(&mut self, claim: &Claim) -> Option<Claimed> {
        if self.is_suspended(claim.provider) {
            return None;
        }
        let due = self.due.get_mut(&claim.provider)?;
        let found = due.iter().take_while(|(at, _)| *at <= claim.now).take(claim.limit.into());
        let mut events = Vec::new();
        for (at, id) in found.copied().collect::<Vec<_>>() {
            due.remove(&(at, id));
            due.insert((claim.until, id));
            let row = self.rows.get_mut(&id).unwrap();
            row.due = claim.until;
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
        Some(Claimed { provider, events }).filter(|claimed| !claimed.events.is_empty())
    }

    fn settle(&mut self, settlement: &Settlement) {
        let row = self.rows.get_mut(&settlement.event).unwrap();
        let (mut fate, mut made) = (settlement.fate, 0);
        if let Some(attempt) = &settlement.attempt {
            if row.attempts.iter().any(|known| known.id == attempt.id) {
                fate = settlement.given_back();
            } else {
                row.attempts.push(attempt.clone());
                made = 1;
            }
        }
        if row.lease != Some(settlement.lease) {
            return;
        }
        row.lease = None;
        row.attempts_made += made;
        let due = self.due.get_mut(&row.provider).unwrap();
        assert!(due.remove(&(row.due, settlement.event)));
        row.state = match fate {
            Fate::Delivered => EventState::Delivered,
            Fate::Exhausted => EventState::Exhausted,
            Fate::Unaddressed => EventState::Unaddressed,
            Fate::RetryAt(at) | Fate::Released(at) => {
                row.due = at;
                due.insert((at, settlement.event));
                EventState::Pending
            }
        };
    }
}

impl Journal for Memory {
    fn claim_due(
        &self,
        now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<Claim>,
    ) -> Result<Look, StoreError> {
        self.with(|book| {
            if book.is_away {
                return Err(StoreError::Unavailable("away".to_owned()));
            }
            let mut providers: Vec<_> =
                book.firsts().filter(|(_, due)| *due <= now).map(|(id, _)| id).collect();
            providers.sort_unstable();
            if providers.is_empty() {
                let next = book.firsts().map(|(_, due)| due).min();
                return Ok(Look { next, ..Look::default() });
            }
            // A store may run a unit of work twice, and the plan of the first run must have no effect.
            let _lost_the_race = plan(&providers);
            let claims = plan(&providers);
            let claimed = claims.iter().filter_map(|claim| book.claim(claim)).collect();
            Ok(Look { providers, claimed, next: None })
        })
    }

    fn bring_back(&self, now: Timestamp, waits: &[Duration], lease: Duration) -> Result<usize, StoreError> {
        self.with(|book| {
            if book.is_away {
                return Err(StoreError::Unavailable("away".to_owned()));
            }
            let mut count = 0;
            for (id, row) in book.rows.iter_mut().filter(|(_, row)| row.state == EventState::Pending) {
                let failed = usize::try_from(row.attempts_made - row.attempts_before_replay).unwrap();
                let latest = if row.lease.is_some() { Some(lease) } else { waits.get(failed).copied() };
                let latest = latest.map_or(row.due, |wait| now + wait);
                if row.due > latest + CLOCK_TOLERANCE {
                    let due = book.due.get_mut(&row.provider).unwrap();
                    due.remove(&(row.due, *id));
                    due.insert((latest, *id));
                    row.due = latest;
                    count += 1;
                }
            }
            Ok(count)
        })
    }

    fn settle(&self, settlements: &[Settlement]) -> Result<(), StoreError> {
        self.with(|book| {
            if book.is_away || settlements.iter().any(|settlement| Some(settlement.event) == book.refuses) {
                return Err(StoreError::Unavailable("away".to_owned()));
            }
            settlements.iter().for_each(|settlement| book.settle(settlement));
            if book.loses_answers {
                book.answers_lost += 1;
                return Err(StoreError::Unavailable("the answer was lost".to_owned()));
            }
            Ok(())
        })
    }
}
