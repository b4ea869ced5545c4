//! The facts that were read before a decision.

use std::collections::{HashMap, HashSet};

use super::{Changes, LedgerError};
use crate::model::{
    Company, EntryKind, IdempotencyKey, IdempotencyRecord, JournalEntry, Lookup, Occasion, Redemption,
    Schedule, UserSummary,
};
use crate::values::{
    CompanyId, EmailAddress, JournalEntryId, OccasionId, ProviderId, RedemptionId, ScheduleId, UserId,
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
    /// Whether the journal already has the distribution of the schedule's next date.
    pub is_paid: bool,
}

/// The next step of a distribution in steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DistributionStep {
    /// Pay these users from the account in transit.
    Pay {
        /// The journal entry of the distribution.
        entry: JournalEntry,
        /// The leg of the first user. Each further user has the next leg.
        first_leg: u32,
        users: Vec<UserId>,
    },
    /// All receivers were processed: return what could not be paid.
    Return {
        entry: JournalEntry,
        /// The number of receivers that could not be paid.
        unpaid: u32,
    },
}

/// The facts that were read before a decision. `None` means that a row was looked up and does not exist.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Users, including deleted ones.
    pub users: HashMap<UserId, Option<UserSummary>>,
    pub companies: HashMap<CompanyId, Option<CompanyFacts>>,
    /// Occasions that are not deleted, each with the provider of its company; a global occasion has none.
    pub occasions: HashMap<OccasionId, Option<(Option<ProviderId>, Occasion)>>,
    pub redemptions: HashMap<RedemptionId, Option<Redemption>>,
    /// Distributions in steps; `None` for one that has ended.
    pub distributions: HashMap<JournalEntryId, Option<DistributionStep>>,
    pub schedules: HashMap<ScheduleId, Option<ScheduleFacts>>,
    /// The addresses of active administrators.
    pub administrators: HashMap<CompanyId, Vec<EmailAddress>>,
    /// The claimed keys: no other transaction holds them.
    pub claimed_keys: HashSet<IdempotencyKey>,
    /// The records of the keys, including expired ones.
    pub idempotency_records: HashMap<IdempotencyKey, IdempotencyRecord>,
}

impl Facts {
    /// Applies the changes of a decision to the facts, for the decisions that follow.
    pub fn apply_changes(&mut self, changes: &Changes) {
        for (user, _) in &changes.deleted_users {
            if let Some(Some(user)) = self.users.get_mut(user) {
                user.active = false;
                if let Some(addresses) = self.administrators.get_mut(&user.company_id) {
                    addresses.retain(|address| *address != user.email);
                }
            }
        }
        for entry in &changes.journal_entries {
            if let EntryKind::Refund { redemption, .. } = entry.kind
                && let Some(Some(redemption)) = self.redemptions.get_mut(&redemption)
            {
                redemption.is_refunded = true;
            }
        }
        for (entry_id, _) in &changes.distributions {
            self.distributions.remove(entry_id); // its next step is known only after the commit
        }
        for schedule in &changes.schedules {
            self.schedules.remove(&schedule.id);
        }
    }

    /// Finds a user of any provider, including deleted users.
    pub fn find_user(&self, id: UserId) -> Result<Option<&UserSummary>, LedgerError> {
        self.users.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("user"))
    }

    /// Finds a user within the scope of a provider.
    pub fn find_own_user(&self, scope: ProviderId, id: UserId) -> Result<Lookup<&UserSummary>, LedgerError> {
        let Some(user) = self.find_user(id)? else { return Ok(Lookup::Absent) };
        Ok(self.find_own_company(scope, user.company_id)?.map(|_| user))
    }

    /// Finds a company of any provider. Fails with [`LedgerError::CompanyHandedOver`] if the company is closed here:
    /// every decision looks up its company, so no decision writes to a closed one. The exception is a step of a
    /// distribution, but a company with an unfinished distribution cannot be handed over.
    pub fn find_company(&self, id: CompanyId) -> Result<Option<&CompanyFacts>, LedgerError> {
        self.loaded_company(id)?.map(require_open).transpose()
    }

    fn loaded_company(&self, id: CompanyId) -> Result<Option<&CompanyFacts>, LedgerError> {
        self.companies.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("company"))
    }

    /// Finds a company within the scope of a provider. Fails like [`find_company`](Self::find_company), except for a
    /// company of another provider, which is reported as belonging to another provider, even if it is closed.
    pub fn find_own_company(
        &self,
        scope: ProviderId,
        id: CompanyId,
    ) -> Result<Lookup<&CompanyFacts>, LedgerError> {
        let found = self.loaded_company(id)?.map(|company| (company.company.provider_id, company));
        Lookup::in_scope(scope, found).try_map(require_open)
    }

    /// Finds an occasion that a provider's companies may use: a global occasion, or an occasion of one of these
    /// companies.
    pub fn find_own_occasion(
        &self,
        scope: ProviderId,
        id: OccasionId,
    ) -> Result<Lookup<&Occasion>, LedgerError> {
        let found = self.occasions.get(&id).ok_or(LedgerError::FactNotLoaded("occasion"))?;
        let found = found.as_ref().map(|(owner, occasion)| (owner.unwrap_or(scope), occasion));
        Ok(Lookup::in_scope(scope, found))
    }

    pub fn find_redemption(&self, id: RedemptionId) -> Result<Option<&Redemption>, LedgerError> {
        self.redemptions.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("redemption"))
    }

    pub fn find_distribution_step(
        &self,
        id: JournalEntryId,
    ) -> Result<Option<&DistributionStep>, LedgerError> {
        self.distributions.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("distribution"))
    }

    pub fn find_schedule(&self, id: ScheduleId) -> Result<Option<&ScheduleFacts>, LedgerError> {
        self.schedules.get(&id).map(Option::as_ref).ok_or(LedgerError::FactNotLoaded("schedule"))
    }

    /// The addresses of a company's active administrators.
    pub fn administrator_addresses(&self, company: CompanyId) -> Result<&[EmailAddress], LedgerError> {
        let found = self.administrators.get(&company).map(Vec::as_slice);
        found.ok_or(LedgerError::FactNotLoaded("list of administrators"))
    }
}

fn require_open(company: &CompanyFacts) -> Result<&CompanyFacts, LedgerError> {
    match company.company.handed_over_at {
        None => Ok(company),
        Some(_) => Err(LedgerError::CompanyHandedOver),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::fixture::{COMPANY, Fixture, user_id};
    use crate::ledger::DistributionProgress;
    use crate::values::Timestamp;

    #[test]
    fn a_deleted_user_is_inactive_and_no_longer_an_administrator() {
        let mut fixture = Fixture::new(50);
        let (ann, bob) = (fixture.add_user(1, &[0]), fixture.add_user(2, &[0]));
        for address in ["u1@example.com", "u2@example.com"] {
            fixture.add_administrator(address);
        }
        let deleted_users = vec![(ann, Timestamp::UNIX_EPOCH), (user_id(3), Timestamp::UNIX_EPOCH)];
        fixture.facts.apply_changes(&Changes { deleted_users, ..Changes::default() });
        assert!(!fixture.user_mut(ann).active);
        assert!(fixture.user_mut(bob).active);
        let remaining = [fixture.user_mut(bob).email.clone()];
        assert_eq!(fixture.facts.administrators[&COMPANY], remaining);
    }

    #[test]
    fn distributions_and_schedules_are_loaded_again_after_a_change() {
        let mut facts = Facts::default();
        let [changed, other] = [1, 2].map(|id| JournalEntryId::from_uuid(Uuid::from_u128(id)));
        facts.distributions.extend([(changed, None), (other, None)]);
        let distributions = vec![(changed, DistributionProgress::Finished)];
        facts.apply_changes(&Changes { distributions, ..Changes::default() });
        assert_eq!(facts.find_distribution_step(changed), Err(LedgerError::FactNotLoaded("distribution")));
        assert_eq!(facts.find_distribution_step(other), Ok(None));
    }
}
