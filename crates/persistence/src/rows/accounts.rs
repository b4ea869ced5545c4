//! Accounts, and the transfers between them.

use diesel::prelude::*;
use guerdon_domain::ledger::{AccountState, Transfer};
use guerdon_domain::money::Amount;
use guerdon_domain::ports::{StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, JournalEntryId, checked_cast};
use guerdon_domain::wallets::{Account, Wallet, WalletType};

use super::RowReader;
use super::columns::declare_row;
use super::companies::rate_column;
use super::schema::{accounts, transfers};
use super::types::{DbTimestamp, Id};

#[derive(Insertable)]
#[diesel(table_name = accounts, treat_none_as_default_value = false)]
pub(crate) struct AccountRow {
    owner_id: Id,
    kind: i16,
    company_id: Id<CompanyId>,
    balance: i64,
    spent: i64,
    entry_count: i64,
    rounding_shortfall: i64,
    created_at: DbTimestamp,
}

impl AccountRow {
    /// A new account with a balance of zero.
    pub(crate) fn new_account(company: CompanyId, account: Account, at: Timestamp) -> Self {
        Self {
            owner_id: Id(account.owner_id()),
            kind: account.kind().code(),
            company_id: Id(company),
            balance: 0,
            spent: 0,
            entry_count: 0,
            rounding_shortfall: 0,
            created_at: DbTimestamp(at),
        }
    }
}

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
    /// An account as payments load and write it.
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
