//! A set of postings at work.

use std::collections::{HashMap, HashSet};

use guerdon_domain::causes::Cause;
use guerdon_domain::companies::CompanyWithOwner;
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord};
use guerdon_domain::ledger::{AccountBook, PayError};
use guerdon_domain::occasions::Occasion;
use guerdon_domain::ports::{Lookup, NewEvent, Outcome, Payment, StoreError, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::users::Person;
use guerdon_domain::values::{CauseId, CompanyId, OccasionId, ProviderId, UserId};

use crate::queued::Queued;

/// What was read for all postings of a set, or by those of a batch before. What is missing may be there all the same.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) people: HashMap<UserId, Person>,
    /// The companies of all these people, and those that send.
    pub(crate) companies: HashMap<CompanyId, CompanyWithOwner>,
    /// With whose they are; nobody's are everybody's.
    pub(crate) occasions: HashMap<OccasionId, (Option<ProviderId>, Occasion)>,
    /// The providers of the companies.
    pub(crate) providers: HashMap<ProviderId, Provider>,
    /// The keys that nobody else has claimed.
    pub(crate) claimed: HashSet<IdempotencyKey>,
    pub(crate) records: HashMap<IdempotencyKey, IdempotencyRecord>,
}

impl Facts {
    pub(crate) fn company(&self, scope: ProviderId, id: CompanyId) -> Option<Lookup<CompanyWithOwner>> {
        let found = self.companies.get(&id)?;
        let is_own = found.company.provider_id == scope;
        Some(if is_own { Lookup::Own(found.clone()) } else { Lookup::Foreign })
    }

    pub(crate) fn occasion(&self, scope: ProviderId, id: OccasionId) -> Option<Lookup<Occasion>> {
        let (owner, found) = self.occasions.get(&id)?;
        let is_own = owner.is_none_or(|it| it == scope);
        Some(if is_own { Lookup::Own(found.clone()) } else { Lookup::Foreign })
    }

    pub(crate) fn provider(&self, id: ProviderId) -> Option<Provider> {
        self.providers.get(&id).cloned()
    }
}

/// A set of postings: what was read, what is held, and what is to be written.
#[derive(Default)]
pub(crate) struct Set {
    pub(crate) facts: Facts,
    pub(crate) book: AccountBook,
    pub(crate) causes: Vec<Cause>,
    /// With their sendings and legs.
    pub(crate) recognitions: Vec<(CauseId, i32, Recognition)>,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) records: Vec<IdempotencyRecord>,
    pub(crate) queued: Queued,
    /// How much there was of each when the present posting began.
    mark: [usize; 4],
}

impl Set {
    pub(crate) fn new(facts: Facts, book: AccountBook) -> Self {
        Self { facts, book, ..Self::default() }
    }

    /// Begins a posting.
    pub(crate) fn begin(&mut self) {
        self.book.set_savepoint();
        self.mark = [self.causes.len(), self.recognitions.len(), self.events.len(), self.records.len()];
    }

    /// Undoes the present posting.
    pub(crate) fn go_back(&mut self) {
        self.book.roll_back();
        let [causes, recognitions, events, records] = self.mark;
        self.causes.truncate(causes);
        self.recognitions.truncate(recognitions);
        self.events.truncate(events);
        self.records.truncate(records);
    }

    /// Whether nothing is to be written.
    pub(crate) fn is_empty(&self) -> bool {
        self.causes.is_empty() && self.records.is_empty()
    }

    /// These people; none where one of them is not known here.
    pub(crate) fn people(&self, scope: ProviderId, ids: &[UserId]) -> Option<Vec<Lookup<Person>>> {
        let one = |id: &UserId| {
            let person = self.facts.people.get(id)?;
            Some(match self.facts.company(scope, person.company_id)? {
                Lookup::Own(_) => Lookup::Own(person.clone()),
                Lookup::Foreign | Lookup::Absent => Lookup::Foreign,
            })
        };
        ids.iter().map(one).collect()
    }

    /// Makes a payment; none if it depends on an account that is not loaded.
    pub(crate) fn pay(&mut self, payment: &Payment<'_>) -> Option<Result<Outcome, StoreError>> {
        match self.book.pay(payment) {
            Ok(outcome) => Some(Ok(outcome)),
            Err(PayError::NotLoaded(_)) => None,
            Err(PayError::Store(cause)) => Some(Err(cause)),
        }
    }

    /// Whether the set has claimed a key.
    pub(crate) fn has_claimed(&self, key: &IdempotencyKey) -> bool {
        self.facts.claimed.contains(key)
    }

    pub(crate) fn record(&self, key: &IdempotencyKey, now: Timestamp) -> Option<IdempotencyRecord> {
        self.facts.records.get(key).filter(|it| it.expires_at > now).cloned()
    }

    pub(crate) fn insert_recognitions(&mut self, cause: CauseId, recognitions: &[Recognition]) {
        self.recognitions.extend((1..).zip(recognitions).map(|(leg, it)| (cause, leg, it.clone())));
    }

    pub(crate) fn queue_events(&mut self, new: &[NewEvent]) {
        self.events.extend_from_slice(new);
    }
}
