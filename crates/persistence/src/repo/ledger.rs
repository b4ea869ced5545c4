//! Loads what the commands of a batch need, and writes their results. Each kind of row takes few statements,
//! whatever the number of commands, and locks are taken in the order that [`LedgerAccess`] prescribes.

use std::collections::BTreeSet;

use diesel::prelude::*;
use guerdon_domain::ledger::{AccountBook, Changes, CompanyFacts, Facts, Needs};
use guerdon_domain::ports::{
    LedgerAccess, NotificationOutbox as _, ReadJournalEntries as _, ReadUsers as _, Schedules as _,
    StoreError,
};
use guerdon_domain::values::{CompanyId, OccasionId, ProviderId, UserId};
use guerdon_domain::wallets::Account;

use super::{
    LOOKS_UP_ROWS_ONE_BY_ONE, Unit, load_accounts, load_records, lock_companies_and_claim_keys,
    lock_user_and_company, write_changes,
};
use crate::failpoint::{alter_changes, failpoint};
use crate::rows::schema::{companies, idempotency_records, occasions, providers, users};
use crate::rows::{CompanyRow, DbTimestamp, Id, IdempotencyRow, OccasionRow, UserSummaryRow};

/// The maximum number of ids of one query.
const IDS_MAX: usize = 2_000;

/// Selects the rows with the given ids: one by one if that is faster on the database, otherwise by a list.
macro_rules! rows_of {
    ($unit:expr, $ids:expr, $id:path, $select:expr) => {{
        let ids: Vec<Id<_>> = $ids.iter().map(|id| Id(*id)).collect();
        let mut rows = Vec::with_capacity(ids.len());
        if LOOKS_UP_ROWS_ONE_BY_ONE {
            for id in ids {
                let found = $unit.query(|conn| $select.filter($id.eq(id)).get_result(conn).optional())?;
                rows.extend(found);
            }
        } else {
            for slice in ids.chunks(IDS_MAX) {
                rows.append(&mut $unit.query(|conn| $select.filter($id.eq_any(slice)).get_results(conn))?);
            }
        }
        rows
    }};
}

impl LedgerAccess for Unit<'_> {
    fn load_facts(
        &mut self,
        needs: &Needs,
        facts: &mut Facts,
        book: &mut AccountBook,
    ) -> Result<(), StoreError> {
        for id in &needs.schedules {
            facts.schedules.insert(*id, self.lock_schedule_facts(*id)?);
        }
        for id in &needs.locked_users {
            self.query(|conn| lock_user_and_company(conn, *id))?;
        }
        self.load_people(&needs.users, facts)?;
        let locking = self.limits.locking_mode();
        let of_people =
            needs.users.iter().filter_map(|user| Some(facts.users.get(user)?.as_ref()?.company_id));
        let companies: BTreeSet<CompanyId> = needs.companies.iter().copied().chain(of_people).collect();
        let new: Vec<CompanyId> =
            companies.into_iter().filter(|company| !facts.companies.contains_key(company)).collect();
        let (locked, claimed) =
            self.query(|conn| lock_companies_and_claim_keys(conn, &new, &needs.keys, locking))?;
        facts.claimed_keys.extend(claimed);
        self.load_companies(&locked, facts)?;
        self.load_occasions(&needs.occasions, facts)?;
        if !needs.keys.is_empty() {
            let rows: Vec<IdempotencyRow> = self.query(|conn| load_records(conn, &needs.keys))?;
            for row in rows {
                let record = self.record_failure(row.into_record())?;
                facts.idempotency_records.insert(record.key.clone(), record);
            }
        }
        for id in &needs.distributions {
            facts.distributions.insert(*id, self.lock_next_step(*id)?);
        }
        let accounts: Vec<Account> =
            needs.accounts.iter().copied().filter(|account| !book.is_loaded(*account)).collect();
        if !accounts.is_empty() {
            self.query(|conn| load_accounts(conn, &accounts, locking, book))?;
        }
        for id in &needs.redemptions {
            facts.redemptions.insert(*id, self.find_redemption(*id)?);
        }
        for id in &needs.administrators {
            facts.administrators.insert(*id, self.list_admin_emails(*id)?);
        }
        Ok(())
    }

    fn write_changes(&mut self, changes: &Changes, book: &AccountBook) -> Result<(), StoreError> {
        let changes: &Changes = &alter_changes(changes);
        self.queued.add_events(&changes.events);
        for key in &changes.expired_keys {
            self.execute(|conn| {
                failpoint("ledger.delete.idempotency_records")?;
                diesel::delete(idempotency_records::table.find((Id(key.scope), &key.key))).execute(conn)
            })?;
        }
        let form = self.limits.write_form();
        self.query(|conn| write_changes(conn, changes, book, form))?;
        for (user, at) in &changes.deleted_users {
            let at = DbTimestamp(*at);
            self.execute(|conn| {
                failpoint("ledger.update.users")?;
                diesel::update(users::table.find(Id(*user)))
                    .set((users::deleted_at.eq(Some(at)), users::updated_at.eq(at)))
                    .execute(conn)
            })?;
        }
        self.queue_notifications(&changes.notifications)?;
        changes.distributions.iter().try_for_each(|(id, progress)| self.record_progress(*id, progress))?;
        changes.schedules.iter().try_for_each(|schedule| self.update_schedule(schedule))
    }
}

impl Unit<'_> {
    fn load_people(&mut self, ids: &BTreeSet<UserId>, facts: &mut Facts) -> Result<(), StoreError> {
        let rows: Vec<UserSummaryRow> =
            rows_of!(self, ids, users::id, users::table.select(UserSummaryRow::as_select()));
        facts.users.extend(ids.iter().map(|id| (*id, None)));
        for row in rows {
            let user = self.record_failure(row.into_summary())?;
            facts.users.insert(user.id, Some(user));
        }
        Ok(())
    }

    fn load_companies(&mut self, ids: &[CompanyId], facts: &mut Facts) -> Result<(), StoreError> {
        let rows: Vec<(CompanyRow<'static>, bool)> = rows_of!(
            self,
            ids,
            companies::id,
            companies::table
                .inner_join(providers::table.on(providers::id.eq(companies::provider_id)))
                .select((CompanyRow::as_select(), providers::callback_url.is_not_null()))
        );
        facts.companies.extend(ids.iter().map(|id| (*id, None)));
        for (row, has_callback) in rows {
            let company = self.record_failure(row.into_company())?;
            facts.companies.insert(company.id, Some(CompanyFacts { company, has_callback }));
        }
        Ok(())
    }

    fn load_occasions(&mut self, ids: &BTreeSet<OccasionId>, facts: &mut Facts) -> Result<(), StoreError> {
        let rows: Vec<(Option<Id<ProviderId>>, OccasionRow)> = rows_of!(
            self,
            ids,
            occasions::id,
            occasions::table
                .left_join(companies::table.on(occasions::company_id.eq(companies::id.nullable())))
                .filter(occasions::deleted_at.is_null())
                .select((companies::provider_id.nullable(), OccasionRow::as_select()))
        );
        facts.occasions.extend(ids.iter().map(|id| (*id, None)));
        for (owner, row) in rows {
            let occasion = self.record_failure(row.into_occasion())?;
            facts.occasions.insert(occasion.id, Some((owner.map(|owner| owner.0), occasion)));
        }
        Ok(())
    }
}
