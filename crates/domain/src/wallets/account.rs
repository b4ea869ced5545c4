//! Accounts and wallets.

use uuid::Uuid;

use crate::money::{Amount, Points, PointsPerDollar};
use crate::values::{CompanyId, UserId, stored};

stored! {
    /// The three wallets of a user, by their names at the API (behaviour 17.1); each is an account of its own kind.
    enum WalletType {
        /// Points earned, to be spent on rewards.
        User => 1, "user_wallet";
        /// Points to send to others.
        Peer => 2, "peer_wallet";
        /// Points that a manager can send.
        Manager => 3, "manager_wallet";
    }
}

impl WalletType {
    pub fn kind(self) -> AccountKind {
        match self {
            Self::User => AccountKind::UserWallet,
            Self::Peer => AccountKind::PeerWallet,
            Self::Manager => AccountKind::ManagerWallet,
        }
    }

    /// The type that a kind of account is; none for a company's.
    pub fn from_kind(kind: AccountKind) -> Option<Self> {
        Self::from_code(kind.code())
    }
}

stored! {
    /// The kinds of account, in the order in which their rows are locked: whoever many wait for comes last.
    enum AccountKind {
        /// A user's earned points.
        UserWallet => 1, "user_wallet";
        /// A user's points to send.
        PeerWallet => 2, "peer_wallet";
        /// A manager's points to send.
        ManagerWallet => 3, "manager_wallet";
        /// A company's reserve.
        Reserve => 4, "reserve";
        /// What a distribution in several steps has taken and not given yet.
        Transit => 5, "transit";
        /// Outside: what deposits come from.
        Funding => 6, "funding";
        /// Outside: what redemptions go to.
        Redeemed => 7, "redeemed";
        /// Outside: what makes up fractions of a point within the tolerance.
        Rounding => 8, "rounding";
    }
}

impl AccountKind {
    /// The name of a stored kind, for people; a number that is no kind is shown as it is.
    pub fn stored_name(code: i16) -> String {
        Self::from_code(code).map_or_else(|| format!("account of kind {code}"), |it| it.name().to_owned())
    }

    /// Whether the account stands for the world outside and may be overdrawn.
    pub fn is_outside(self) -> bool {
        matches!(self, Self::Funding | Self::Redeemed | Self::Rounding)
    }
}

/// One account of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    Wallet(WalletType, UserId),
    Reserve(CompanyId),
    /// What a company's distributions in several steps have taken and not given yet.
    Transit(CompanyId),
    /// What a company's deposits come from.
    Funding(CompanyId),
    /// What a company's redemptions go to.
    Redeemed(CompanyId),
    /// What makes up a company's fractions of a point.
    Rounding(CompanyId),
}

impl Account {
    /// The accounts that a company has from the start.
    pub fn of_company(company: CompanyId) -> [Self; 5] {
        [
            Self::Reserve(company),
            Self::Transit(company),
            Self::Funding(company),
            Self::Redeemed(company),
            Self::Rounding(company),
        ]
    }

    /// The wallets that a user can have.
    pub fn of_user(user: UserId) -> [Self; 3] {
        [WalletType::User, WalletType::Peer, WalletType::Manager].map(|it| Self::Wallet(it, user))
    }

    /// The user or company that it belongs to; with the kind, its key.
    pub fn owner(self) -> Uuid {
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
            Self::Wallet(wallet, _) => wallet.kind(),
            Self::Reserve(_) => AccountKind::Reserve,
            Self::Transit(_) => AccountKind::Transit,
            Self::Funding(_) => AccountKind::Funding,
            Self::Redeemed(_) => AccountKind::Redeemed,
            Self::Rounding(_) => AccountKind::Rounding,
        }
    }
}

/// A user's wallet as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wallet {
    /// Which of the three.
    pub wallet_type: WalletType,
    /// What it holds.
    pub balance: Amount,
    /// What it has spent in all (behaviour 17.6).
    pub spent: Amount,
}

impl Wallet {
    /// The points it shows at today's rate.
    pub fn points(&self, rate: PointsPerDollar) -> Points {
        rate.points(self.balance)
    }

    /// The cumulative points spent, at today's rate.
    pub fn points_spent(&self, rate: PointsPerDollar) -> Points {
        rate.points(self.spent)
    }
}
