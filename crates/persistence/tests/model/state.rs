//! The state of the model: a company, its users and its money, as plain values.

/// The wallets of a user, in this order.
pub const USER: usize = 0;
pub const PEER: usize = 1;
pub const MANAGER: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The number of the address. Active users have different addresses.
    pub email: usize,
    pub is_manager: bool,
    /// Users who stop being managers keep the wallet.
    pub has_manager_wallet: bool,
    pub is_active: bool,
    pub balances: [i128; 3],
    pub spent: [i128; 3],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redemption {
    pub user: usize,
    pub amount: i128,
    pub is_refunded: bool,
}

/// A distribution that the reserve has paid and the receivers have not yet received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedDistribution {
    pub wallet: usize,
    pub receivers: Vec<usize>,
    pub crowd: usize,
    pub each: i128,
}

/// Whether an operation takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Done,
    Refused,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub rate: i128,
    pub reserve: i128,
    pub funding: i128,
    pub redeemed: i128,
    pub rounding: i128,
    /// The one of two providers that manages the company.
    pub provider: usize,
    pub owner: usize,
    pub users: Vec<User>,
    /// The number of other active users, who only take part in distributions to all users. Each has the same balances.
    pub crowd: usize,
    pub crowd_balances: [i128; 3],
    pub unfinished: Vec<UnfinishedDistribution>,
    pub redemptions: Vec<Redemption>,
    /// The number of requests with an idempotency key that took effect.
    pub requests_with_key: usize,
    /// The numbers of recognitions and of events.
    pub recognitions: usize,
    pub events: usize,
    /// The verdict on the last operation.
    pub last_verdict: Verdict,
}

impl Model {
    /// A company whose owner is the first user.
    pub fn new(rate: i128, crowd: usize) -> Self {
        let (reserve, funding, redeemed, rounding) = (0, 0, 0, 0);
        Self {
            rate,
            reserve,
            funding,
            redeemed,
            rounding,
            provider: 0,
            owner: 0,
            users: vec![Self::new_user(0, false)],
            crowd,
            crowd_balances: [0; 3],
            unfinished: Vec::new(),
            redemptions: Vec::new(),
            requests_with_key: 0,
            recognitions: 0,
            events: 0,
            last_verdict: Verdict::Done,
        }
    }

    pub fn new_user(email: usize, is_manager: bool) -> User {
        let has_manager_wallet = is_manager;
        User { email, is_manager, has_manager_wallet, is_active: true, balances: [0; 3], spent: [0; 3] }
    }

    /// The amount that has left the reserve for receivers who have not yet received it.
    pub fn in_transit(&self) -> i128 {
        let amount = |unfinished: &UnfinishedDistribution| {
            unfinished.each * to_i128(unfinished.receivers.len() + unfinished.crowd)
        };
        self.unfinished.iter().map(amount).sum()
    }

    pub fn find_active_by_email(&self, email: usize) -> Option<usize> {
        self.users.iter().position(|user| user.is_active && user.email == email)
    }

    pub fn is_active(&self, user: usize) -> bool {
        self.users.get(user).is_some_and(|user| user.is_active)
    }
}

pub fn to_i128(count: usize) -> i128 {
    i128::try_from(count).unwrap_or_default()
}
