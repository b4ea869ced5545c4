//! Accounts and transfers.

use diesel::prelude::*;
use guerdon_domain::money::{Amount, Points};
use guerdon_domain::ports::{Payment, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, TransferId};
use guerdon_domain::wallets::{
    Account, AccountKind, Credit, Direction, Reason, Transaction, Wallet, WalletType,
};

use super::Reading;
use super::company::rate_column;
use crate::schema::{accounts, transfers};
use crate::types::{At, Id};

#[derive(Insertable)]
#[diesel(table_name = accounts, treat_none_as_default_value = false)]
pub(crate) struct AccountRow {
    owner_id: Id,
    kind: i16,
    company_id: Id,
    debits: i64,
    credits: i64,
    spent: i64,
    made_up: i64,
    created_at: At,
    closed_at: Option<At>,
}

impl AccountRow {
    /// A new account, at zero.
    pub(crate) fn opened(company: CompanyId, account: Account, at: Timestamp) -> Self {
        Self {
            owner_id: Id(account.owner()),
            kind: account.kind().code(),
            company_id: Id(company.as_uuid()),
            debits: 0,
            credits: 0,
            spent: 0,
            made_up: 0,
            created_at: At(at),
            closed_at: None,
        }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts)]
pub(crate) struct WalletRow {
    owner_id: Id,
    kind: i16,
    debits: i64,
    credits: i64,
    spent: i64,
}

impl WalletRow {
    /// Whose wallet it is.
    pub(crate) fn owner(&self) -> Id {
        self.owner_id
    }

    pub(crate) fn read(self) -> Result<Wallet, StoreError> {
        let reading = Reading { table: "accounts", id: self.owner_id.0 };
        let wallet_type = match AccountKind::from_code(self.kind) {
            Some(AccountKind::UserWallet) => WalletType::User,
            Some(AccountKind::PeerWallet) => WalletType::Peer,
            Some(AccountKind::ManagerWallet) => WalletType::Manager,
            _ => return Err(reading.corrupt("kind")),
        };
        Ok(Wallet {
            wallet_type,
            balance: Amount::from_nanodollars(reading.make("debits", self.credits.checked_sub(self.debits))?),
            spent: Amount::from_nanodollars(self.spent),
        })
    }
}

#[derive(Insertable)]
#[diesel(table_name = transfers, treat_none_as_default_value = false)]
pub(crate) struct TransferRow {
    id: Id,
    company_id: Id,
    debit_owner: Id,
    debit_kind: i16,
    credit_owner: Id,
    credit_kind: i16,
    amount: i64,
    points: i64,
    points_per_dollar: i32,
    reason: i16,
    cause_id: Option<Id>,
    created_at: At,
}

impl TransferRow {
    /// Bound values a row.
    pub(crate) const COLUMNS: usize = 12;

    /// What a payment moves to one of its receivers.
    pub(crate) fn of_credit(payment: &Payment<'_>, payer: Account, credit: &Credit) -> Self {
        Self {
            id: Id(credit.transfer.as_uuid()),
            company_id: Id(payment.company.as_uuid()),
            debit_owner: Id(payer.owner()),
            debit_kind: payer.kind().code(),
            credit_owner: Id(credit.to.owner()),
            credit_kind: credit.to.kind().code(),
            amount: payment.price.each.nanodollars(),
            points: payment.points.get(),
            points_per_dollar: rate_column(payment.rate),
            reason: payment.reason.code(),
            cause_id: credit.cause.map(Id),
            created_at: At(payment.at),
        }
    }

    /// What a payment takes from the rounding account for its payer.
    pub(crate) fn of_rounding(payment: &Payment<'_>, payer: Account, made_up: i64) -> Self {
        let from = Account::Rounding(payment.company);
        let to = Credit { to: payer, transfer: payment.rounding, cause: None };
        let row = Self::of_credit(payment, from, &to);
        Self { amount: made_up, points: 0, reason: Reason::Rounding.code(), ..row }
    }

    /// What a closed wallet returns to the reserve.
    pub(crate) fn of_return(
        company: CompanyId,
        wallet: Account,
        transfer: TransferId,
        amount: Amount,
        rate: guerdon_domain::money::PointsPerDollar,
        at: Timestamp,
    ) -> Self {
        Self {
            id: Id(transfer.as_uuid()),
            company_id: Id(company.as_uuid()),
            debit_owner: Id(wallet.owner()),
            debit_kind: wallet.kind().code(),
            credit_owner: Id(company.as_uuid()),
            credit_kind: AccountKind::Reserve.code(),
            amount: amount.nanodollars(),
            points: rate.points(amount).get(),
            points_per_dollar: rate_column(rate),
            reason: Reason::UserDeleted.code(),
            cause_id: None,
            created_at: At(at),
        }
    }
}

#[derive(QueryableByName)]
pub(crate) struct TransactionRow {
    #[diesel(sql_type = crate::types::Identifier)]
    id: Id,
    #[diesel(sql_type = diesel::sql_types::SmallInt)]
    direction: i16,
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    points: i64,
    #[diesel(sql_type = diesel::sql_types::SmallInt)]
    reason: i16,
    #[diesel(sql_type = crate::types::Moment)]
    created_at: At,
}

impl TransactionRow {
    pub(crate) fn read(self) -> Result<Transaction, StoreError> {
        let reading = Reading { table: "transfers", id: self.id.0 };
        Ok(Transaction {
            direction: if self.direction == 0 { Direction::Debit } else { Direction::Credit },
            points: reading.make("points", Points::new(self.points))?,
            reason: reading.make("reason", Reason::from_code(self.reason))?,
            created_at: self.created_at.0,
        })
    }
}
