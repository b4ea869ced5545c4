//! Accounts, and the transfers between them.

use diesel::prelude::*;
use guerdon_domain::ledger::{AccountState, Transfer};
use guerdon_domain::money::{Amount, Points, PointsPerDollar};
use guerdon_domain::ports::{AccountEntry, AccountTransaction, StoreError};
use guerdon_domain::values::{CompanyId, JournalEntryId, checked_cast};
use guerdon_domain::wallets::{Account, Direction, Reason, Wallet, WalletType};

use super::companies::rate_column;
use super::schema::{accounts, transfers};
use super::{DbTimestamp, Id, RowReader, declare_row};

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts)]
pub(crate) struct WalletRow {
    pub(crate) owner_id: Id,
    kind: i16,
    balance: i64,
    spent: i64,
}

impl WalletRow {
    pub(crate) fn into_wallet(self) -> Result<Wallet, StoreError> {
        let reader = RowReader { table: "accounts", id: &self.owner_id.0 };
        Ok(Wallet {
            wallet_type: reader.require_valid("kind", WalletType::from_code(self.kind))?,
            balance: Amount::from_nanodollars(self.balance),
            spent: Amount::from_nanodollars(self.spent),
        })
    }
}

declare_row! {
    /// An account as payments load and write it, and as audits read it.
    #[derive(Queryable, Selectable)]
    struct AccountStateRow in accounts {
        owner_id: Id,
        kind: i16,
        balance: i64,
        spent: i64,
        entry_count: i64,
        rounding_shortfall: i64,
        alert_below: Option<i64>,
        closed_at: Option<DbTimestamp>,
    }
}

impl AccountStateRow {
    pub(crate) fn from_state((account, state): (Account, &AccountState)) -> Self {
        Self {
            owner_id: Id(account.owner_id()),
            kind: account.kind().code(),
            balance: state.balance.nanodollars(),
            spent: state.spent.nanodollars(),
            entry_count: state.entry_count,
            rounding_shortfall: state.rounding_shortfall.nanodollars(),
            alert_below: state.alert_below.map(Amount::nanodollars),
            closed_at: state.closed_at.map(DbTimestamp),
        }
    }

    /// The key of the account, and its state.
    pub(crate) fn into_state(self) -> ((Id, i16), AccountState) {
        let state = AccountState {
            balance: Amount::from_nanodollars(self.balance),
            spent: Amount::from_nanodollars(self.spent),
            entry_count: self.entry_count,
            rounding_shortfall: Amount::from_nanodollars(self.rounding_shortfall),
            alert_below: self.alert_below.map(Amount::from_nanodollars),
            closed_at: self.closed_at.map(|closed_at| closed_at.0),
        };
        ((self.owner_id, self.kind), state)
    }
}

declare_row! {
    #[derive(Insertable, Queryable, Selectable)]
    struct TransferRow in transfers {
        journal_entry_id: Id<JournalEntryId>,
        leg: i32,
        company_id: Id<CompanyId>,
        debit_owner: Id,
        debit_kind: i16,
        debit_sequence: i64,
        credit_owner: Id,
        credit_kind: i16,
        credit_sequence: i64,
        amount: i64,
        points: i64,
        points_per_dollar: i32,
        reason: i16,
        created_at: DbTimestamp,
    }
}

impl TransferRow {
    pub(crate) fn from_transfer(transfer: &Transfer) -> Self {
        let ((debit, debit_sequence), (credit, credit_sequence)) = (transfer.debit, transfer.credit);
        Self {
            journal_entry_id: Id(transfer.entry_id),
            leg: checked_cast(transfer.leg),
            company_id: Id(transfer.company),
            debit_owner: Id(debit.owner_id()),
            debit_kind: debit.kind().code(),
            debit_sequence,
            credit_owner: Id(credit.owner_id()),
            credit_kind: credit.kind().code(),
            credit_sequence,
            amount: transfer.amount.nanodollars(),
            points: transfer.points.get(),
            points_per_dollar: rate_column(transfer.rate),
            reason: transfer.reason.code(),
            created_at: DbTimestamp(transfer.at),
        }
    }
}

#[derive(Queryable)]
pub(crate) struct AccountTransactionRow {
    journal_entry_id: Id<JournalEntryId>,
    direction: i16,
    points: i64,
    reason: i16,
    created_at: DbTimestamp,
}

impl AccountTransactionRow {
    pub(crate) fn into_transaction(self) -> Result<AccountTransaction, StoreError> {
        let reader = RowReader { table: "transfers", id: &self.journal_entry_id.0 };
        Ok(AccountTransaction {
            journal_entry_id: self.journal_entry_id.0,
            direction: reader.require_valid("direction", Direction::from_code(self.direction))?,
            points: reader.require_valid("points", Points::new(self.points))?,
            reason: reader.require_valid("reason", Reason::from_code(self.reason))?,
            at: self.created_at.0,
        })
    }
}

#[derive(Queryable)]
pub(crate) struct AccountEntryRow {
    sequence: i64,
    amount: i64,
    points_per_dollar: i32,
    transaction: AccountTransactionRow,
}

impl AccountEntryRow {
    pub(crate) fn into_account_entry(self) -> Result<AccountEntry, StoreError> {
        let reader = RowReader { table: "transfers", id: &self.transaction.journal_entry_id.0 };
        let rate = PointsPerDollar::new(self.points_per_dollar.into());
        Ok(AccountEntry {
            sequence: self.sequence,
            amount: Amount::from_nanodollars(self.amount),
            rate: reader.require_valid("points_per_dollar", rate)?,
            transaction: self.transaction.into_transaction()?,
        })
    }
}
