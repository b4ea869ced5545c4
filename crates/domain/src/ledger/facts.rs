//! What was read before a decision.

use std::collections::{HashMap, HashSet};

use super::{Changes, LedgerError};
use crate::model::{Company, IdempotencyKey, IdempotencyRecord, Lookup, Occasion, Person, Redemption};
use crate::values::{CompanyId, EmailAddress, OccasionId, ProviderId, RedemptionId, UserId};

/// A company as decisions need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyFacts {
    pub company: Company,
    /// Whether the company's provider has a callback URL, so that its events are delivered.
    pub has_callback: bool,
}

/// What was read before a decision. `None` stands for what was looked for and is not there.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Deleted users are among them.
    pub people: HashMap<UserId, Option<Person>>,
    pub companies: HashMap<CompanyId, Option<CompanyFacts>>,
    /// Occasions that are not deleted, each with the provider of its company; none for a global occasion.
    pub occasions: HashMap<OccasionId, Option<(Option<ProviderId>, Occasion)>>,
    pub redemptions: HashMap<RedemptionId, Option<Redemption>>,
    /// The addresses of active administrators.
    pub administrators: HashMap<CompanyId, Vec<EmailAddress>>,
    /// The keys that were claimed: no other transaction holds them.
    pub claimed: HashSet<IdempotencyKey>,
    /// The records of keys, expired ones too.
    pub records: HashMap<IdempotencyKey, IdempotencyRecord>,
}

impl Facts {
    /// Takes up what was decided on these facts, for the decisions that follow.
    pub fn follow(&mut self, changes: &Changes) {
        for (user, _) in &changes.deleted_users {
            if let Some(Some(person)) = self.people.get_mut(user) {
                person.active = false;
            }
        }
    }

    /// A user of whatever provider, deleted ones included.
    pub fn person(&self, id: UserId) -> Result<Option<&Person>, LedgerError> {
        self.people.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("user"))
    }

    /// The same for one provider.
    pub fn own_person(&self, scope: ProviderId, id: UserId) -> Result<Lookup<&Person>, LedgerError> {
        let Some(person) = self.person(id)? else { return Ok(Lookup::Absent) };
        Ok(self.own_company(scope, person.company_id)?.map(|_| person))
    }

    /// A company of whatever provider.
    pub fn company(&self, id: CompanyId) -> Result<Option<&CompanyFacts>, LedgerError> {
        self.companies.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("company"))
    }

    /// The same for one provider.
    pub fn own_company(
        &self,
        scope: ProviderId,
        id: CompanyId,
    ) -> Result<Lookup<&CompanyFacts>, LedgerError> {
        Ok(Lookup::judge(scope, self.company(id)?.map(|it| (it.company.provider_id, it))))
    }

    /// An occasion that the companies of a provider may use: of one of its companies, or a global one.
    pub fn own_occasion(&self, scope: ProviderId, id: OccasionId) -> Result<Lookup<&Occasion>, LedgerError> {
        let found = self.occasions.get(&id).ok_or(LedgerError::FactNotLoaded("occasion"))?;
        let found = found.as_ref().map(|(owner, occasion)| (owner.unwrap_or(scope), occasion));
        Ok(Lookup::judge(scope, found))
    }

    pub fn redemption(&self, id: RedemptionId) -> Result<Option<&Redemption>, LedgerError> {
        self.redemptions.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("redemption"))
    }

    /// The addresses of a company's active administrators.
    pub fn administrators(&self, company: CompanyId) -> Result<&[EmailAddress], LedgerError> {
        let found = self.administrators.get(&company).map(Vec::as_slice);
        found.ok_or(LedgerError::FactNotLoaded("list of administrators"))
    }
}
