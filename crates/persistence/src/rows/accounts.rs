//! Accounts, and the transfers between them.

use diesel::prelude::*;
use guerdon_domain::books::Transfer;
use guerdon_domain::money::{Amount, Points};
use guerdon_domain::ports::{Payment, StoreError, Timestamp};
use guerdon_domain::values::{CauseId, CompanyId, fit};
use guerdon_domain::wallets::{Account, AccountKind, Reason, Wallet, WalletType};

use super::Reading;
use super::companies::rate_column;
use super::schema::{accounts, transfers};
use super::types::{At, Id};

#[derive(Insertable)]
#[diesel(table_name = accounts, treat_none_as_default_value = false)]
pub(crate) struct AccountRow {
    owner_id: Id,
    kind: i16,
    company_id: Id<CompanyId>,
    balance: i64,
    spent: i64,
    movements: i64,
    made_up: i64,
    created_at: At,
}

impl AccountRow {
    /// A new account, at zero.
    pub(crate) fn opened(company: CompanyId, account: Account, at: Timestamp) -> Self {
        Self {
            owner_id: Id(account.owner()),
            kind: account.kind().code(),
            company_id: Id(company),
            balance: 0,
            spent: 0,
            movements: 0,
            made_up: 0,
            created_at: At(at),
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts)]
pub(crate) struct WalletRow {
    owner_id: Id,
    kind: i16,
    balance: i64,
    spent: i64,
}

impl WalletRow {
    /// Whose wallet it is.
    pub(crate) fn owner(&self) -> Id {
        self.owner_id
    }

    pub(crate) fn read(self) -> Result<Wallet, StoreError> {
        let reading = Reading { table: "accounts", id: &self.owner_id.0 };
        let wallet_type = AccountKind::from_code(self.kind).and_then(WalletType::from_kind);
        Ok(Wallet {
            wallet_type: reading.make("kind", wallet_type)?,
            balance: Amount::from_nanodollars(self.balance),
            spent: Amount::from_nanodollars(self.spent),
        })
    }
}

/// One leg of a payment: its number and its two ends, each an account and the movement of it that this is.
pub(crate) struct Leg {
    pub(crate) number: i32,
    pub(crate) debit: (Account, i64),
    pub(crate) credit: (Account, i64),
    pub(crate) amount: i64,
    pub(crate) points: Points,
    pub(crate) reason: Reason,
}

#[derive(Insertable, Queryable, Selectable)]
#[diesel(table_name = transfers, treat_none_as_default_value = false)]
pub(crate) struct TransferRow {
    pub(crate) cause_id: Id<CauseId>,
    pub(crate) leg: i32,
    pub(crate) company_id: Id<CompanyId>,
    pub(crate) debit_owner: Id,
    pub(crate) debit_kind: i16,
    pub(crate) debit_place: i64,
    pub(crate) credit_owner: Id,
    pub(crate) credit_kind: i16,
    pub(crate) credit_place: i64,
    pub(crate) amount: i64,
    pub(crate) points: i64,
    pub(crate) points_per_dollar: i32,
    pub(crate) reason: i16,
    pub(crate) created_at: At,
}

impl TransferRow {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 14;

    pub(crate) fn of_transfer(it: &Transfer) -> Self {
        let ((debit, debit_place), (credit, credit_place)) = (it.debit, it.credit);
        Self {
            cause_id: Id(it.cause),
            leg: fit(it.leg),
            company_id: Id(it.company),
            debit_owner: Id(debit.owner()),
            debit_kind: debit.kind().code(),
            debit_place,
            credit_owner: Id(credit.owner()),
            credit_kind: credit.kind().code(),
            credit_place,
            amount: it.amount.nanodollars(),
            points: it.points.get(),
            points_per_dollar: rate_column(it.rate),
            reason: it.reason.code(),
            created_at: At(it.at),
        }
    }

    pub(crate) fn of(payment: &Payment<'_>, leg: &Leg) -> Self {
        let ((debit, debit_place), (credit, credit_place)) = (leg.debit, leg.credit);
        Self {
            cause_id: Id(payment.cause),
            leg: leg.number,
            company_id: Id(payment.company),
            debit_owner: Id(debit.owner()),
            debit_kind: debit.kind().code(),
            debit_place,
            credit_owner: Id(credit.owner()),
            credit_kind: credit.kind().code(),
            credit_place,
            amount: leg.amount,
            points: leg.points.get(),
            points_per_dollar: rate_column(payment.rate),
            reason: leg.reason.code(),
            created_at: At(payment.at),
        }
    }
}
