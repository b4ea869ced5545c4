//! Audits the journal and the accounts of one company, before its import is committed.

use diesel::prelude::*;
use guerdon_domain::audit::{AccountAudit, Findings, StoredAccountEntry};
use guerdon_domain::ports::{AccountEntry, EventBodies, ReadAccounts as _, StoreError};
use guerdon_domain::values::{CompanyId, JournalEntryId, UserId, checked_cast};
use guerdon_domain::wallets::{Account, AccountKind, Reason};

use super::Unit;
use super::journal::JournalProgress;
use super::pages::{PAGE_ENTRIES, PositionedEntry, split_into_batches};
use crate::rows::schema::{accounts, journal_entries};
use crate::rows::{AccountStateRow, Id, JournalEntryRow};

impl Unit<'_> {
    pub(in super::super) fn audit_journal_and_accounts_of(
        &mut self,
        company: CompanyId,
        bodies: &dyn EventBodies,
    ) -> Result<Findings, StoreError> {
        let mut findings = Findings::default();
        let mut progress = JournalProgress::of_company();
        let mut after = Id(uuid::Uuid::nil().into());
        loop {
            let page = self.load_entries_of(company, after)?;
            let Some(last) = page.last() else { break };
            after = last.1.id;
            for batch in split_into_batches(&page) {
                self.audit_batch(batch, &mut progress, bodies, &mut findings)?;
            }
        }
        progress.report_counts(&mut findings);
        self.audit_accounts_of(company, progress.transfers, &mut findings)?;
        Ok(findings)
    }

    /// The next journal entries of a company, by their ids.
    fn load_entries_of(
        &mut self,
        company: CompanyId,
        after: Id<JournalEntryId>,
    ) -> Result<Vec<PositionedEntry>, StoreError> {
        self.query(|conn| {
            journal_entries::table
                .filter(journal_entries::company_id.eq(Id(company)).and(journal_entries::id.gt(after)))
                .order(journal_entries::id)
                .limit(PAGE_ENTRIES)
                .select((journal_entries::position, JournalEntryRow::as_select()))
                .get_results(conn)
        })
    }

    fn audit_accounts_of(
        &mut self,
        company: CompanyId,
        transfers: i64,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let (mut after, mut sum, mut entries) = ((Id(uuid::Uuid::nil()), 0_i16), 0_i128, 0_i128);
        loop {
            let page: Vec<AccountStateRow> = self.query(|conn| {
                accounts::table
                    .filter(accounts::company_id.eq(Id(company)).and(accounts::owner_id.ge(after.0)))
                    .filter(accounts::owner_id.gt(after.0).or(accounts::kind.gt(after.1)))
                    .order((accounts::owner_id, accounts::kind))
                    .limit(PAGE_ENTRIES)
                    .select(AccountStateRow::as_select())
                    .get_results(conn)
            })?;
            let Some(last) = page.last() else { break };
            after = (last.owner_id, last.kind);
            findings.checked.accounts += checked_cast::<u64, _>(page.len());
            for row in &page {
                let stored = row.to_stored_account();
                sum += i128::from(stored.balance);
                entries += i128::from(stored.entry_count);
                self.audit_entries_of(row, findings)?;
            }
        }
        findings.require(sum == 0, "conservation", || {
            format!("the accounts of company {company} do not sum to zero")
        });
        findings.require(entries == 2 * i128::from(transfers), "transfer's account", || {
            format!("the accounts of company {company} have {entries} entries, but {transfers} transfers have two each")
        });
        Ok(())
    }

    fn audit_entries_of(&mut self, row: &AccountStateRow, findings: &mut Findings) -> Result<(), StoreError> {
        let stored = row.to_stored_account();
        let Some(account) = to_account(row) else {
            findings.add_violation("owner of an account", || format!("{} has no owner", row.owner_id.0));
            return Ok(());
        };
        let mut audit = AccountAudit::new(stored);
        let mut after = 0;
        loop {
            let page = self.list_account_entries(account, after, PAGE_ENTRIES)?;
            let Some(last) = page.last() else { break };
            after = last.sequence;
            for AccountEntry { sequence, amount, transaction, .. } in &page {
                let stored_entry = StoredAccountEntry {
                    direction: transaction.direction,
                    sequence: *sequence,
                    amount: amount.nanodollars(),
                    reason: transaction.reason.code(),
                    entry_id: transaction.journal_entry_id,
                };
                let balance = audit.check_entry(&stored_entry, findings);
                let is_of_wallet = stored.kind <= AccountKind::ManagerWallet.code();
                if is_of_wallet && transaction.reason == Reason::Override {
                    self.audit_override(&stored, Id(transaction.journal_entry_id), balance, findings)?;
                }
            }
        }
        audit.check_totals(findings);
        Ok(())
    }
}

fn to_account(row: &AccountStateRow) -> Option<Account> {
    let (user, company) = (UserId::from_uuid(row.owner_id.0), CompanyId::from_uuid(row.owner_id.0));
    let mut accounts = Account::user_wallets(user).into_iter().chain(Account::company_accounts(company));
    accounts.find(|account| account.kind().code() == row.kind)
}
