//! A journal in memory, which keeps to the ports' word: leases exclude, and settling shows the lease.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;

use guerdon_domain::ports::{Attempt, Claim, Claimed, ClaimedEvent, Fate, Settlement, StoreError, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{CompanyId, EventId, ProviderId};
use uuid::Uuid;

use super::provider;
use crate::dispatcher::journal::{Due, Journal};
use crate::dispatcher::step::hold;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dispatcher) enum State {
    Pending,
    Delivered,
    Exhausted,
    Unaddressed,
}

pub(in crate::dispatcher) struct Row {
    pub(in crate::dispatcher) provider: ProviderId,
    pub(in crate::dispatcher) state: State,
    pub(in crate::dispatcher) due: Timestamp,
    pub(in crate::dispatcher) attempts: Vec<Attempt>,
    pub(in crate::dispatcher) attempts_before_replay: u16,
    lease: Uuid,
}

#[derive(Default)]
pub(in crate::dispatcher) struct Book {
    pub(in crate::dispatcher) rows: BTreeMap<EventId, Row>,
    pub(in crate::dispatcher) providers: HashMap<ProviderId, Provider>,
    /// Pending events by when they can be claimed.
    due: BTreeMap<ProviderId, BTreeSet<(Timestamp, EventId)>>,
    pub(in crate::dispatcher) is_away: bool,
    pub(in crate::dispatcher) refuses: Option<EventId>,
}

#[derive(Default)]
pub(in crate::dispatcher) struct Memory(Mutex<Book>);

impl Memory {
    pub(in crate::dispatcher) fn with<T>(&self, work: impl FnOnce(&mut Book) -> T) -> T {
        work(&mut hold(&self.0))
    }

    pub(in crate::dispatcher) fn add(&self, event: EventId, owner: u64, due: Timestamp) {
        self.with(|book| {
            let owner = provider(owner);
            let id = owner.id;
            book.providers.entry(id).or_insert(owner);
            let row = Row {
                provider: id,
                state: State::Pending,
                due,
                attempts: Vec::new(),
                attempts_before_replay: 0,
                lease: Uuid::nil(),
            };
            assert!(book.rows.insert(event, row).is_none());
            book.due.entry(id).or_default().insert((due, event));
        });
    }

    pub(in crate::dispatcher) fn replay(&self, event: EventId, due: Timestamp) {
        self.with(|book| {
            let row = book.rows.get_mut(&event).unwrap();
            row.state = State::Pending;
            row.attempts_before_replay = u16::try_from(row.attempts.len()).unwrap();
            row.due = due;
            book.due.get_mut(&row.provider).unwrap().insert((due, event));
        });
    }

    pub(in crate::dispatcher) fn count(&self, state: State) -> usize {
        self.with(|book| book.rows.values().filter(|it| it.state == state).count())
    }
}

impl Book {
    fn claim(&mut self, claim: &Claim) -> Option<Claimed> {
        let due = self.due.get_mut(&claim.provider)?;
        let mut events = Vec::new();
        while events.len() < usize::from(claim.limit)
            && let Some((at, id)) = due.first().copied().filter(|(at, _)| *at <= claim.now)
        {
            due.remove(&(at, id));
            due.insert((claim.until, id));
            let row = self.rows.get_mut(&id).unwrap();
            row.due = claim.until;
            row.lease = claim.lease;
            events.push(ClaimedEvent {
                company_id: CompanyId::from_uuid(Uuid::nil()),
                id,
                body: Vec::new(),
                attempts: u16::try_from(row.attempts.len()).unwrap(),
                attempts_before_replay: row.attempts_before_replay,
            });
        }
        Some(Claimed { provider: self.providers[&claim.provider].clone(), events })
    }

    fn settle(&mut self, settlement: &Settlement) {
        let row = self.rows.get_mut(&settlement.event).unwrap();
        row.attempts.extend(settlement.attempt.clone());
        if row.lease != settlement.lease || row.state != State::Pending {
            return;
        }
        row.lease = Uuid::nil();
        let due = self.due.get_mut(&row.provider).unwrap();
        assert!(due.remove(&(row.due, settlement.event)));
        row.state = match settlement.fate {
            Fate::Delivered => State::Delivered,
            Fate::Exhausted => State::Exhausted,
            Fate::Unaddressed => State::Unaddressed,
            Fate::RetryAt(at) | Fate::Released(at) => {
                row.due = at;
                due.insert((at, settlement.event));
                State::Pending
            }
        };
    }
}

impl Journal for Memory {
    fn claim_due(
        &self,
        now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<Claim>,
    ) -> Result<Due, StoreError> {
        self.with(|book| {
            if book.is_away {
                return Err(StoreError::Unavailable("away".to_owned()));
            }
            let first = |it: &BTreeSet<(Timestamp, EventId)>| it.first().map(|(at, _)| *at);
            let providers: Vec<_> = book
                .due
                .iter()
                .filter(|(_, it)| first(it) <= Some(now) && !it.is_empty())
                .map(|(id, _)| *id)
                .collect();
            let next = book.due.values().filter_map(first).min().filter(|_| providers.is_empty());
            // A store may run a unit of work again; what the first run planned must not matter.
            let _lost_the_race = plan(&providers);
            let claims = plan(&providers);
            let claimed = claims.iter().filter_map(|it| book.claim(it)).collect();
            Ok(Due { providers, claimed, next })
        })
    }

    fn settle(&self, settlements: &[Settlement]) -> Result<(), StoreError> {
        self.with(|book| {
            if book.is_away || settlements.iter().any(|it| Some(it.event) == book.refuses) {
                return Err(StoreError::Unavailable("away".to_owned()));
            }
            settlements.iter().for_each(|it| book.settle(it));
            Ok(())
        })
    }
}
