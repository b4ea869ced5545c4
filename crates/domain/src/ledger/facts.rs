//! What was read before a decision.

use std::collections::{HashMap, HashSet};

use super::{Changes, LedgerError};
use crate::model::{
    Act, Cause, Company, IdempotencyKey, IdempotencyRecord, Lookup, Occasion, Person, Redemption, Schedule,
};
use crate::values::{
    CauseId, CompanyId, EmailAddress, OccasionId, ProviderId, RedemptionId, ScheduleId, UserId,
};

/// A company as decisions need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyFacts {
    pub company: Company,
    /// Whether the company's provider has a callback URL, so that its events are delivered.
    pub has_callback: bool,
}

/// A schedule as decisions need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleFacts {
    pub schedule: Schedule,
    /// Whether the journal has the distribution of its next date already.
    pub is_paid: bool,
}

/// The next step of a distribution in several steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DistributionStep {
    /// Pay these users from the account in transit.
    Pay {
        /// The journal entry of the distribution.
        cause: Cause,
        /// The leg of the first of them; each of the others has the next.
        first_leg: u32,
        users: Vec<UserId>,
    },
    /// Every receiver had a turn: return what could not be paid.
    Return {
        cause: Cause,
        /// The number of receivers that could not be paid.
        unpaid: u32,
    },
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
    /// Distributions in several steps; none for one that has ended.
    pub distributions: HashMap<CauseId, Option<DistributionStep>>,
    pub schedules: HashMap<ScheduleId, Option<ScheduleFacts>>,
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
                if let Some(addresses) = self.administrators.get_mut(&person.company_id) {
                    addresses.retain(|it| *it != person.email);
                }
            }
        }
        for cause in &changes.causes {
            if let Act::Refund { redemption, .. } = cause.act
                && let Some(Some(redemption)) = self.redemptions.get_mut(&redemption)
            {
                redemption.is_refunded = true;
            }
        }
        for progress in &changes.distributions {
            self.distributions.remove(&progress.cause()); // its next step is known after the commit
        }
        for schedule in &changes.schedules {
            self.schedules.remove(&schedule.id);
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

    pub fn distribution(&self, id: CauseId) -> Result<Option<&DistributionStep>, LedgerError> {
        self.distributions.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("distribution"))
    }

    pub fn schedule(&self, id: ScheduleId) -> Result<Option<&ScheduleFacts>, LedgerError> {
        self.schedules.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("schedule"))
    }

    /// The addresses of a company's active administrators.
    pub fn administrators(&self, company: CompanyId) -> Result<&[EmailAddress], LedgerError> {
        let found = self.administrators.get(&company).map(Vec::as_slice);
        found.ok_or(LedgerError::FactNotLoaded("list of administrators"))
    }
}
