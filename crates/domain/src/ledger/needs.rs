//! What has to be loaded before a decision.

use std::collections::BTreeSet;

use crate::model::IdempotencyKey;
use crate::values::{CompanyId, JournalEntryId, OccasionId, RedemptionId, ScheduleId, UserId};
use crate::wallets::Account;

/// What has to be loaded before a decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Users, each together with its company.
    pub users: BTreeSet<UserId>,
    /// Users whose rows are locked before they are read. The rows of the users' companies are locked before
    /// those of the users.
    pub locked_users: BTreeSet<UserId>,
    /// Companies. A company's provider cannot change until the transaction ends.
    pub companies: BTreeSet<CompanyId>,
    pub occasions: BTreeSet<OccasionId>,
    /// Accounts to lock.
    pub accounts: BTreeSet<Account>,
    /// Redemptions. They are read after the accounts are locked, and read again on each load.
    pub redemptions: BTreeSet<RedemptionId>,
    /// Distributions in steps, which are locked.
    pub distributions: BTreeSet<JournalEntryId>,
    /// Schedules, which are locked before everything else.
    pub schedules: BTreeSet<ScheduleId>,
    /// Companies whose administrators' addresses are needed.
    pub administrators: BTreeSet<CompanyId>,
    /// Idempotency keys to claim, together with their stored records.
    pub keys: Vec<IdempotencyKey>,
}

impl Needs {
    /// Adds the needs of another command.
    pub fn extend(&mut self, other: &Self) {
        self.users.extend(&other.users);
        self.locked_users.extend(&other.locked_users);
        self.companies.extend(&other.companies);
        self.occasions.extend(&other.occasions);
        self.accounts.extend(&other.accounts);
        self.redemptions.extend(&other.redemptions);
        self.distributions.extend(&other.distributions);
        self.schedules.extend(&other.schedules);
        self.administrators.extend(&other.administrators);
        self.keys.extend_from_slice(&other.keys);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::fixture::{COMPANY, OCCASION, PROVIDER, user_id};

    #[test]
    fn the_needs_of_two_commands_include_those_of_each() {
        let id = Uuid::from_u128(7);
        let all = Needs {
            users: BTreeSet::from([user_id(1)]),
            locked_users: BTreeSet::from([user_id(2)]),
            companies: BTreeSet::from([COMPANY]),
            occasions: BTreeSet::from([OCCASION]),
            accounts: BTreeSet::from([Account::Reserve(COMPANY)]),
            redemptions: BTreeSet::from([RedemptionId::from_uuid(id)]),
            distributions: BTreeSet::from([JournalEntryId::from_uuid(id)]),
            schedules: BTreeSet::from([ScheduleId::from_uuid(id)]),
            administrators: BTreeSet::from([COMPANY]),
            keys: vec![IdempotencyKey { scope: PROVIDER.as_uuid(), key: "4711".to_owned() }],
        };
        let mut needs = Needs { users: BTreeSet::from([user_id(3)]), ..Needs::default() };
        needs.extend(&all);
        let users = BTreeSet::from([user_id(1), user_id(3)]);
        assert_eq!(needs, Needs { users, ..all });
    }
}
