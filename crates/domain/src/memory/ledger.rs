//! Loads what decisions need, and writes their results.

use super::Unit;
use super::data::Data;
use super::users::person;
use crate::ledger::{
    AccountBook, Changes, CompanyFacts, DistributionProgress, DistributionStep, Facts, Needs,
};
use crate::ports::{
    JournalEntries as _, LedgerAccess, MailOutbox as _, Outbox as _, ReadJournalEntries as _, ReadUsers as _,
    StoreError,
};
use crate::values::{JournalEntryId, fit};
use crate::wallets::Account;

impl LedgerAccess for Unit {
    fn load(&mut self, needs: &Needs, facts: &mut Facts, book: &mut AccountBook) -> Result<(), StoreError> {
        if !needs.schedules.is_empty() {
            return self.run(|_| Err(StoreError::Broken("schedules are not kept in memory".into())));
        }
        for id in &needs.redemptions {
            let redemption = self.redemption(*id)?;
            facts.redemptions.insert(*id, redemption);
        }
        for id in &needs.administrators {
            let emails = self.admin_emails(*id)?;
            facts.administrators.insert(*id, emails);
        }
        self.read(|data| {
            let mut companies = needs.companies.clone();
            for id in &needs.users {
                let user = data.users.get(id);
                companies.extend(user.map(|user| user.company_id));
                facts.people.insert(*id, user.map(person));
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
                let kept = data.occasions.get(id).filter(|(_, deleted_at)| deleted_at.is_none());
                let found = kept.map(|(occasion, _)| {
                    let company = occasion.company_id.and_then(|company_id| data.companies.get(&company_id));
                    (company.map(|company| company.provider_id), occasion.clone())
                });
                facts.occasions.insert(*id, found);
            }
            facts.claimed.extend(needs.keys.iter().cloned());
            for key in &needs.keys {
                facts.records.extend(data.records.get(key).map(|record| (key.clone(), record.clone())));
            }
            for id in &needs.distributions {
                facts.distributions.insert(*id, data.next_step(*id));
            }
            for account in &needs.accounts {
                book.load(*account, data.book.account(*account).cloned());
            }
        })
    }

    fn write(&mut self, changes: &Changes, book: &AccountBook) -> Result<(), StoreError> {
        for cause in &changes.journal_entries {
            self.record(cause)?;
        }
        self.run(|data| {
            data.insert_recognitions(changes.recognitions.iter().map(|(_, _, recognition)| recognition))
        })?;
        self.queue_events(&changes.events)?;
        self.queue_mails(&changes.mails)?;
        self.run(|data| {
            let changed: Vec<(Account, _)> =
                book.changed().map(|(account, state)| (account, state.clone())).collect();
            for (id, at) in &changes.deleted_users {
                if let Some(user) = data.users.get_mut(id) {
                    (user.deleted_at, user.updated_at) = (Some(*at), *at);
                }
            }
            changes.distributions.iter().for_each(|distribution| data.note_progress(distribution));
            data.records.extend(changes.records.iter().map(|record| (record.key.clone(), record.clone())));
            Ok(data.book.replace(changed, book.transfers())?)
        })
    }
}

impl Data {
    fn next_step(&self, id: JournalEntryId) -> Option<DistributionStep> {
        let (steps, unpaid) = self.distributions.get(&id)?;
        let cause = self.journal_entries.get(&id)?.clone();
        Some(match steps.first_key_value() {
            Some((leg, users)) => DistributionStep::Pay { cause, first_leg: *leg, users: users.clone() },
            None => DistributionStep::Return { cause, unpaid: *unpaid },
        })
    }

    fn note_progress(&mut self, progress: &DistributionProgress) {
        match progress {
            DistributionProgress::Begun { cause, receivers, each_step } => {
                let first_leg = |number: usize| fit(number * each_step + 1);
                let steps = receivers.chunks(*each_step).enumerate();
                let steps = steps.map(|(number, users)| (first_leg(number), users.to_vec())).collect();
                self.distributions.insert(*cause, (steps, 0));
            }
            DistributionProgress::Paid { cause, first_leg, unpaid } => {
                if let Some((steps, all)) = self.distributions.get_mut(cause) {
                    steps.remove(first_leg);
                    *all += unpaid;
                }
            }
            DistributionProgress::Ended { cause } => {
                self.distributions.remove(cause);
            }
        }
    }
}
