//! Accounts and wallets.

use uuid::Uuid;

use crate::money::{Amount, Points, PointsPerDollar};
use crate::values::{CompanyId, UserId, stored_enum};

stored_enum! {
    /// The three wallets of a user, by their names in the API (behaviour 17.1). Each is a separate account
    /// with a different kind.
    enum WalletType {
        /// Earned points, to spend on rewards.
        User => 1, "user_wallet";
        /// Points to send to others.
        Peer => 2, "peer_wallet";
        /// Points that a manager can send.
        Manager => 3, "manager_wallet";
    }
}

impl WalletType {
    pub fn account_kind(self) -> AccountKind {
        match self {
            Self::User => AccountKind::UserWallet,
            Self::Peer => AccountKind::PeerWallet,
            Self::Manager => AccountKind::ManagerWallet,
        }
    }
}

stored_enum! {
    /// The kinds of accounts, in lock order: the accounts that most commands need come last.
    enum AccountKind {
        /// A user's earned points.
        UserWallet => 1, "user_wallet";
        /// A user's points to send.
        PeerWallet => 2, "peer_wallet";
        /// A manager's points to send.
        ManagerWallet => 3, "manager_wallet";
        /// A company's reserve.
        Reserve => 4, "reserve";
        /// The unpaid part of a company's distributions in steps.
        Transit => 5, "transit";
        /// Outside: the source of deposits.
        Funding => 6, "funding";
        /// Outside: the destination of redemptions.
        Redeemed => 7, "redeemed";
        /// Outside: the source of fractions of a point within the tolerance.
        Rounding => 8, "rounding";
    }
}

impl AccountKind {
    /// The name of a stored kind. An unknown number is shown as a number.
    pub fn stored_name(code: i16) -> String {
        Self::from_code(code).map_or_else(|| format!("account of kind {code}"), |kind| kind.name().to_owned())
    }

    /// Whether the account represents the outside world. The balance of `funding` and `rounding` may be negative.
    pub fn is_outside(self) -> bool {
        matches!(self, Self::Funding | Self::Redeemed | Self::Rounding)
    }
}

/// One account of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    Wallet(WalletType, UserId),
    Reserve(CompanyId),
    /// The unpaid part of a company's distributions in steps.
    Transit(CompanyId),
    /// The source of a company's deposits.
    Funding(CompanyId),
    /// The destination of a company's redemptions.
    Redeemed(CompanyId),
    /// The source of the fractions of a point that a company adds.
    Rounding(CompanyId),
}

impl Account {
    /// The accounts that a company has from its creation.
    pub fn company_accounts(company: CompanyId) -> [Self; 5] {
        [
            Self::Reserve(company),
            Self::Transit(company),
            Self::Funding(company),
            Self::Redeemed(company),
            Self::Rounding(company),
        ]
    }

    /// The wallets that a user can have.
    pub fn user_wallets(user: UserId) -> [Self; 3] {
        [WalletType::User, WalletType::Peer, WalletType::Manager].map(|wallet| Self::Wallet(wallet, user))
    }

    /// The user or company that owns it. With the kind, it identifies the account.
    pub fn owner_id(self) -> Uuid {
        match self {
            Self::Wallet(_, user) => user.as_uuid(),
            Self::Reserve(company)
            | Self::Transit(company)
            | Self::Funding(company)
            | Self::Redeemed(company)
            | Self::Rounding(company) => company.as_uuid(),
        }
    }

    pub fn kind(self) -> AccountKind {
        match self {
            Self::Wallet(wallet, _) => wallet.account_kind(),
            Self::Reserve(_) => AccountKind::Reserve,
            Self::Transit(_) => AccountKind::Transit,
            Self::Funding(_) => AccountKind::Funding,
            Self::Redeemed(_) => AccountKind::Redeemed,
            Self::Rounding(_) => AccountKind::Rounding,
        }
    }
}

/// The state of a user's wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wallet {
    /// Which of the three wallets it is.
    pub wallet_type: WalletType,
    /// Its balance.
    pub balance: Amount,
    /// The total that it has spent (behaviour 17.6).
    pub spent: Amount,
}

impl Wallet {
    /// The points that it shows at a rate.
    pub fn points_at(&self, rate: PointsPerDollar) -> Points {
        rate.shown_points(self.balance)
    }

    /// The cumulative points spent, at a rate.
    pub fn points_spent(&self, rate: PointsPerDollar) -> Points {
        rate.shown_points(self.spent)
    }
}

#[cfg(test)]
mod tests {
    use super::AccountKind;

    #[test]
    fn stored_kinds_have_names() {
        assert_eq!(AccountKind::stored_name(AccountKind::Reserve.code()), "reserve");
        assert_eq!(AccountKind::stored_name(99), "account of kind 99");
    }
}
