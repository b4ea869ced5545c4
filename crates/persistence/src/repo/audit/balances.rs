//! Compares each account with its entries. Accounts are read in the order of their owners, and the entries of
//! an account in the order of their numbers.

use std::collections::VecDeque;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, SmallInt};
use guerdon_domain::audit::{AccountAudit, Findings, StoredAccount, StoredAccountEntry};
use guerdon_domain::journal::EntryKind;
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::JournalEntryId;
use guerdon_domain::wallets::{AccountKind, Direction, Reason};

use super::{Conn, PartStatus, SnapshotTimer, Unit, account_entries_from};
use crate::rows::schema::accounts;
use crate::rows::{AccountStateRow, Id, Identifier};

const PAGE_ROWS: i64 = 2_000;

/// An account: owner and kind.
type StoredAccountKey = (Id, i16);

/// An entry: account owner, account kind, entry number, amount, reason and journal entry.
type EntryRow = (Id, i16, i64, i64, i16, Id<JournalEntryId>);
type EntryColumns = (Identifier, SmallInt, BigInt, BigInt, SmallInt, Identifier);

/// Which accounts and entries have been checked.
#[derive(Default)]
pub(super) struct BalancesProgress {
    /// The key of the last account that has been checked. An account with a smaller key that is created later is not
    /// checked.
    after: Option<StoredAccountKey>,
    /// The next account, if some of its entries have been checked.
    started: Option<(StoredAccountKey, AccountAudit)>,
}

impl BalancesProgress {
    /// The last entry that has been checked.
    fn last_entry(&self) -> Option<(StoredAccountKey, i64)> {
        match &self.started {
            Some((account, audit)) => Some((*account, audit.last_sequence())),
            None => self.after.map(|account| (account, i64::MAX)),
        }
    }
}

/// One side of all transfers, ordered by account and entry number.
struct EntryCursor {
    direction: Direction,
    page: VecDeque<EntryRow>,
    last: Option<(StoredAccountKey, i64)>,
    is_exhausted: bool,
}

impl EntryCursor {
    fn new(direction: Direction, after: Option<(StoredAccountKey, i64)>) -> Self {
        Self { direction, page: VecDeque::new(), last: after, is_exhausted: false }
    }

    /// Whether the next entry has this account and this number.
    fn starts_with(&self, account: StoredAccountKey, sequence: i64) -> bool {
        self.page.front().is_some_and(|next| ((next.0, next.1), next.2) == (account, sequence))
    }

    /// Reads the next page.
    fn read_next_page(&mut self, conn: &mut Conn) -> QueryResult<()> {
        let side = match self.direction {
            Direction::Debit => "debit",
            Direction::Credit => "credit",
        };
        let (from, key) = account_entries_from(side);
        // A single row comparison, so that the index scan starts where the page starts, however long an
        // account's history is.
        let key = format!("{key}.{side}_owner, {key}.{side}_kind, {key}.{side}_sequence");
        let query = sql::<EntryColumns>(&format!(
            "SELECT {key}, t.amount, t.reason, t.journal_entry_id FROM {from} "
        ));
        let page = format!("ORDER BY {key} LIMIT {PAGE_ROWS}");
        let rows: Vec<EntryRow> = match self.last {
            None => query.sql(&page).get_results(conn)?,
            Some(((owner, kind), sequence)) => query
                .sql(&format!("WHERE ({key}) > ("))
                .bind::<Identifier, _>(owner)
                .sql(", ")
                .bind::<SmallInt, _>(kind)
                .sql(", ")
                .bind::<BigInt, _>(sequence)
                .sql(&format!(") {page}"))
                .get_results(conn)?,
        };
        self.last = rows.last().map(|row| ((row.0, row.1), row.2));
        self.is_exhausted = rows.is_empty();
        self.page = rows.into();
        Ok(())
    }
}

impl Unit<'_> {
    pub(super) fn audit_balances(
        &mut self,
        progress: &mut BalancesProgress,
        timer: &SnapshotTimer<'_>,
        findings: &mut Findings,
    ) -> Result<PartStatus, StoreError> {
        let last = progress.last_entry();
        let mut cursors =
            [Direction::Debit, Direction::Credit].map(|direction| EntryCursor::new(direction, last));
        loop {
            let page = self.accounts_after(progress.after)?;
            if page.is_empty() {
                break;
            }
            for account in &page {
                let account = account.to_stored_account();
                let status = self.audit_account(account, &mut cursors, progress, timer, findings)?;
                if status == PartStatus::Incomplete || timer.is_over() {
                    return Ok(PartStatus::Incomplete);
                }
            }
        }
        for cursor in &mut cursors {
            while let Some((owner, kind)) = self.peek_account(cursor)? {
                cursor.page.pop_front();
                report_missing_account((owner, kind), findings);
            }
        }
        Ok(PartStatus::Complete)
    }

    /// Checks an account, or a part of its entries, which never change.
    fn audit_account(
        &mut self,
        stored: StoredAccount,
        [debits, credits]: &mut [EntryCursor; 2],
        progress: &mut BalancesProgress,
        timer: &SnapshotTimer<'_>,
        findings: &mut Findings,
    ) -> Result<PartStatus, StoreError> {
        let key = (Id(stored.owner), stored.kind);
        let mut audit = match progress.started.take() {
            Some((account, audit)) if account == key => audit.continue_with(stored),
            _ => AccountAudit::new(stored),
        };
        loop {
            let sides = [self.peek_account(debits)?, self.peek_account(credits)?];
            for (side, cursor) in sides.into_iter().zip([&mut *debits, &mut *credits]) {
                if side.is_some_and(|account| account < key) {
                    cursor.page.pop_front();
                    report_missing_account(side.unwrap_or(key), findings);
                }
            }
            if sides.iter().flatten().any(|account| *account < key) {
                continue;
            }
            let at = |cursor: &EntryCursor, account: Option<StoredAccountKey>| {
                cursor.page.front().filter(|_| account == Some(key)).map(|entry| entry.2)
            };
            let [debit, credit] = sides;
            let cursor = match (at(debits, debit), at(credits, credit)) {
                (None, None) => break,
                (Some(debit), credit) if credit.is_none_or(|credit| debit <= credit) => &mut *debits,
                _ => &mut *credits,
            };
            let Some((_, _, sequence, amount, reason, entry_id)) = cursor.page.pop_front() else { break };
            let direction = cursor.direction;
            let entry = StoredAccountEntry { direction, sequence, amount, reason, entry_id: entry_id.0 };
            let is_page_end = cursor.page.is_empty();
            let balance = audit.check_entry(&entry, findings);
            if reason == Reason::Override.code() && stored.kind <= AccountKind::ManagerWallet.code() {
                self.audit_override(&stored, entry_id, balance, findings)?;
            }
            // Damage can give a debit and a credit the same number. Both are checked in one snapshot.
            let is_tied = [&*debits, &*credits].iter().any(|other| other.starts_with(key, sequence));
            if is_page_end && !is_tied && timer.is_over() {
                progress.started = Some((key, audit));
                progress.after = Some((key.0, key.1.saturating_sub(1))); // a new account must not come first
                return Ok(PartStatus::Incomplete);
            }
        }
        audit.check_totals(findings);
        findings.checked.accounts += 1;
        progress.after = Some(key);
        Ok(PartStatus::Complete)
    }

    /// Checks that a wallet shows the requested points after an override.
    pub(super) fn audit_override(
        &mut self,
        stored: &StoredAccount,
        entry_id: Id<JournalEntryId>,
        balance: i128,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let found = self.load_entries_by_id(&[entry_id])?.remove(&entry_id);
        let entry = found.and_then(|found| found.to_journal_entry().ok());
        let matches = entry.is_some_and(|entry| match entry.kind {
            EntryKind::Override { points, .. } => shown_points_of(entry.rate, balance) == Some(points.get()),
            _ => false,
        });
        findings.require(matches, "override", || {
            let name = AccountKind::stored_name(stored.kind);
            format!("{name} of {} holds {balance} nano-dollars after its override", stored.owner)
        });
        Ok(())
    }

    fn accounts_after(
        &mut self,
        after: Option<StoredAccountKey>,
    ) -> Result<Vec<AccountStateRow>, StoreError> {
        let all = accounts::table
            .order((accounts::owner_id, accounts::kind))
            .limit(PAGE_ROWS)
            .select(AccountStateRow::as_select());
        self.query(|conn| match after {
            None => all.get_results(conn),
            Some((owner, kind)) => all
                .filter(accounts::owner_id.ge(owner))
                .filter(accounts::owner_id.gt(owner).or(accounts::kind.gt(kind)))
                .get_results(conn),
        })
    }

    /// The account of the next entry of a side.
    fn peek_account(&mut self, cursor: &mut EntryCursor) -> Result<Option<StoredAccountKey>, StoreError> {
        if cursor.page.is_empty() && !cursor.is_exhausted {
            self.query(|conn| cursor.read_next_page(conn))?;
        }
        Ok(cursor.page.front().map(|entry| (entry.0, entry.1)))
    }
}

fn report_missing_account((owner, kind): StoredAccountKey, findings: &mut Findings) {
    findings.add_violation("transfer's account", || {
        format!("a transfer refers to {} of {}, which is missing", AccountKind::stored_name(kind), owner.0)
    });
}

fn shown_points_of(rate: PointsPerDollar, balance: i128) -> Option<i64> {
    i64::try_from(balance)
        .ok()
        .map(|nanodollars| rate.shown_points(Amount::from_nanodollars(nanodollars)).get())
}
