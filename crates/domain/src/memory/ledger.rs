//! Loads what decisions need, and writes their results.

use super::MemoryTx;
use super::data::StoreData;
use super::users::to_summary;
use crate::ledger::{
    AccountBook, Changes, CompanyFacts, DistributionProgress, DistributionStep, Facts, Needs,
};
use crate::ports::{
    JournalEntries as _, LedgerAccess, NotificationOutbox as _, Outbox as _, ReadJournalEntries as _,
    ReadUsers as _, StoreError,
};
use crate::values::{JournalEntryId, checked_cast};
use crate::wallets::Account;

impl LedgerAccess for MemoryTx {
    fn load_facts(
        &mut self,
        needs: &Needs,
        facts: &mut Facts,
        book: &mut AccountBook,
    ) -> Result<(), StoreError> {
        if !needs.schedules.is_empty() {
            return self.execute(|_| Err(StoreError::Broken("schedules are not kept in memory".into())));
        }
        for id in &needs.redemptions {
            let redemption = self.find_redemption(*id)?;
            facts.redemptions.insert(*id, redemption);
        }
        for id in &needs.administrators {
            let emails = self.list_admin_emails(*id)?;
            facts.administrators.insert(*id, emails);
        }
        self.query(|data| {
            let mut companies = needs.companies.clone();
            for id in &needs.users {
                let user = data.users.get(id);
                companies.extend(user.map(|user| user.company_id));
                facts.users.insert(*id, user.map(to_summary));
            }
            for id in companies {
                let company = data.companies.get(&id).map(|company| {
                    let provider = data.providers.get(&company.provider_id);
                    let has_callback = provider.is_some_and(|provider| provider.callback_url.is_some());
                    CompanyFacts { company: company.clone(), has_callback }
                });
                facts.companies.insert(id, company);
            }
            for id in &needs.occasions {
                let available = data.occasions.get(id).filter(|(_, deleted_at)| deleted_at.is_none());
                let found = available.map(|(occasion, _)| {
                    let company = occasion.company_id.and_then(|company_id| data.companies.get(&company_id));
                    (company.map(|company| company.provider_id), occasion.clone())
                });
                facts.occasions.insert(*id, found);
            }
            facts.claimed_keys.extend(needs.keys.iter().cloned());
            for key in &needs.keys {
                facts
                    .idempotency_records
                    .extend(data.records.get(key).map(|record| (key.clone(), record.clone())));
            }
            for id in &needs.distributions {
                facts.distributions.insert(*id, data.next_distribution_step(*id));
            }
            for account in &needs.accounts {
                book.insert_loaded(*account, data.book.account(*account).cloned());
            }
        })
    }

    fn write_changes(&mut self, changes: &Changes, book: &AccountBook) -> Result<(), StoreError> {
        for entry in &changes.journal_entries {
            self.record_journal_entry(entry)?;
        }
        self.execute(|data| {
            data.insert_recognitions(changes.recognitions.iter().map(|(_, _, recognition)| recognition))
        })?;
        self.queue_events(&changes.events)?;
        self.queue_notifications(&changes.notifications)?;
        self.execute(|data| {
            let changed: Vec<(Account, _)> =
                book.changed_accounts().map(|(account, state)| (account, state.clone())).collect();
            for (id, at) in &changes.deleted_users {
                if let Some(user) = data.users.get_mut(id) {
                    (user.deleted_at, user.updated_at) = (Some(*at), *at);
                }
            }
            changes.distributions.iter().for_each(|(id, progress)| data.record_progress(*id, progress));
            data.records.extend(
                changes.idempotency_records.iter().map(|record| (record.key.clone(), record.clone())),
            );
            Ok(data.book.apply_changes(changed, book.transfers())?)
        })
    }
}

impl StoreData {
    fn next_distribution_step(&self, id: JournalEntryId) -> Option<DistributionStep> {
        let (steps, unpaid) = self.distributions.get(&id)?;
        let entry = self.journal_entries.get(&id)?.clone();
        Some(match steps.first_key_value() {
            Some((leg, users)) => DistributionStep::Pay { entry, first_leg: *leg, users: users.clone() },
            None => DistributionStep::Return { entry, unpaid: *unpaid },
        })
    }

    fn record_progress(&mut self, id: JournalEntryId, progress: &DistributionProgress) {
        match progress {
            DistributionProgress::Started { receivers, receivers_per_step: each_step } => {
                let first_leg = |number: usize| checked_cast(number * each_step + 1);
                let steps = receivers.chunks(*each_step).enumerate();
                let steps = steps.map(|(number, users)| (first_leg(number), users.to_vec())).collect();
                self.distributions.insert(id, (steps, 0));
            }
            DistributionProgress::StepPaid { first_leg, unpaid } => {
                if let Some((steps, total)) = self.distributions.get_mut(&id) {
                    steps.remove(first_leg);
                    *total += unpaid;
                }
            }
            DistributionProgress::Finished => {
                self.distributions.remove(&id);
            }
        }
    }
}
