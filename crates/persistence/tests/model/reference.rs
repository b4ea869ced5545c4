//! The model: a company, its users and its money, as plain values. It shares no arithmetic with the domain.
//!
//! Amounts are nano-dollars. The rules are those of docs/specified-behaviour.md: an amount is rounded half to even, a
//! balance shows the points that it covers with a tolerance, and the company adds what a payer is short of within that
//! tolerance.

const NANODOLLARS: i128 = 1_000_000_000;

/// The worth of points.
pub fn worth(rate: i128, points: i128) -> i128 {
    let (floor, rest) = ((points * NANODOLLARS) / rate, (points * NANODOLLARS) % rate);
    floor + i128::from(2 * rest > rate || (2 * rest == rate && floor % 2 == 1))
}

/// The tolerance times the rate. The tolerance is a hundredth of a point, but at most a hundredth of a cent.
fn scaled_tolerance(rate: i128) -> i128 {
    (NANODOLLARS / 100).min(rate * NANODOLLARS / 10_000)
}

/// The points that a balance shows.
pub fn shown(rate: i128, balance: i128) -> i128 {
    (balance * rate + scaled_tolerance(rate)) / NANODOLLARS
}

/// Whether a balance covers an exact amount, given as a multiple of the rate.
fn covers(rate: i128, balance: i128, scaled_amount: i128) -> bool {
    balance * rate + scaled_tolerance(rate) >= scaled_amount
}

/// The wallets of a user, in this order.
pub const USER: usize = 0;
pub const PEER: usize = 1;
pub const MANAGER: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub is_manager: bool,
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

/// Who pays for a recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payer {
    Company,
    User(usize),
}

/// An operation, with users by their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    CreateUser {
        is_manager: bool,
    },
    DeleteUser(usize),
    ChangeRate(i128),
    Deposit(i128),
    Withdraw(i128),
    Distribute {
        wallet: usize,
        receivers: Vec<usize>,
        points: i128,
    },
    Send {
        payer: Payer,
        receivers: Vec<usize>,
        points: i128,
    },
    /// Several recognitions from the company that are submitted together. The reserve covers all of them.
    SendTogether {
        receivers: Vec<usize>,
        points: i128,
    },
    Redeem {
        user: usize,
        points: i128,
    },
    Refund(usize),
    Override {
        user: usize,
        wallet: usize,
        points: i128,
    },
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
    pub users: Vec<User>,
    pub redemptions: Vec<Redemption>,
    /// The numbers of recognitions and of events.
    pub recognitions: usize,
    pub events: usize,
    /// The verdict on the last operation.
    pub last_verdict: Verdict,
}

impl Model {
    /// A company whose owner is the first user.
    pub fn new(rate: i128) -> Self {
        let (reserve, funding, redeemed, rounding) = (0, 0, 0, 0);
        let users = vec![Self::new_user(false)];
        Self {
            rate,
            reserve,
            funding,
            redeemed,
            rounding,
            users,
            redemptions: Vec::new(),
            recognitions: 0,
            events: 0,
            last_verdict: Verdict::Done,
        }
    }

    fn new_user(is_manager: bool) -> User {
        User { is_manager, is_active: true, balances: [0; 3], spent: [0; 3] }
    }

    fn is_active(&self, user: usize) -> bool {
        self.users.get(user).is_some_and(|user| user.is_active)
    }

    /// Whether the reserve covers recognitions that are submitted together, whatever their order.
    pub fn covers_together(&self, receivers: usize, points: i128) -> bool {
        let count = i128::try_from(receivers).unwrap_or_default();
        self.reserve >= (worth(self.rate, points) + 1) * count
    }

    /// Executes an operation. One that is refused changes nothing.
    pub fn apply(&mut self, transition: &Transition) -> Verdict {
        let before = self.clone();
        let verdict = self.try_apply(transition);
        if verdict == Verdict::Refused {
            *self = before;
        }
        verdict
    }

    fn try_apply(&mut self, transition: &Transition) -> Verdict {
        let is_done = match transition {
            Transition::CreateUser { is_manager } => {
                self.users.push(Self::new_user(*is_manager));
                true
            }
            Transition::DeleteUser(user) => self.delete_user(*user),
            Transition::ChangeRate(rate) => {
                self.rate = *rate;
                true
            }
            Transition::Deposit(points) => {
                let amount = worth(self.rate, *points);
                self.funding -= amount;
                self.reserve += amount;
                *points > 0
            }
            Transition::Withdraw(points) => {
                let amount = worth(self.rate, *points);
                self.funding += amount;
                *points > 0 && self.pay_from_reserve(*points, 1)
            }
            Transition::Distribute { wallet, receivers, points } => {
                self.distribute(*wallet, receivers, *points)
            }
            Transition::Send { payer, receivers, points } => self.send(*payer, receivers, *points),
            Transition::SendTogether { receivers, points } => {
                receivers.iter().all(|receiver| self.send(Payer::Company, &[*receiver], *points))
            }
            Transition::Redeem { user, points } => self.redeem(*user, *points),
            Transition::Refund(redemption) => self.refund(*redemption),
            Transition::Override { user, wallet, points } => self.replace(*user, *wallet, *points),
        };
        if is_done { Verdict::Done } else { Verdict::Refused }
    }

    /// Debits a balance. The company's rounding account adds a shortfall within the tolerance.
    fn debit(rate: i128, balance: &mut i128, rounding: &mut i128, price: i128, scaled_price: i128) -> bool {
        if !covers(rate, *balance, scaled_price) {
            return false;
        }
        let shortfall = (price - *balance).max(0);
        *rounding -= shortfall;
        *balance += shortfall - price;
        true
    }

    fn pay_from_reserve(&mut self, points: i128, count: usize) -> bool {
        let count = i128::try_from(count).unwrap_or_default();
        let price = worth(self.rate, points) * count;
        Self::debit(self.rate, &mut self.reserve, &mut self.rounding, price, points * count * NANODOLLARS)
    }

    fn delete_user(&mut self, user: usize) -> bool {
        if user == 0 {
            return false; // the owner
        }
        let user = &mut self.users[user];
        for wallet in [USER, PEER, MANAGER] {
            self.reserve += user.balances[wallet];
            user.spent[wallet] += user.balances[wallet];
            user.balances[wallet] = 0;
        }
        user.is_active = false;
        true
    }

    fn distribute(&mut self, wallet: usize, receivers: &[usize], points: i128) -> bool {
        let has_wallet =
            |user: &usize| self.is_active(*user) && (wallet != MANAGER || self.users[*user].is_manager);
        if points == 0 || receivers.is_empty() || !receivers.iter().all(has_wallet) {
            return false;
        }
        let each = worth(self.rate, points);
        receivers.iter().for_each(|receiver| self.users[*receiver].balances[wallet] += each);
        self.pay_from_reserve(points, receivers.len())
    }

    fn send(&mut self, payer: Payer, receivers: &[usize], points: i128) -> bool {
        let is_range = (1..=5_000 * self.rate).contains(&points);
        if !is_range || receivers.is_empty() || !receivers.iter().all(|user| self.is_active(*user)) {
            return false;
        }
        let count = i128::try_from(receivers.len()).unwrap_or_default();
        let (each, scaled) = (worth(self.rate, points), points * count * NANODOLLARS);
        let is_paid = match payer {
            Payer::Company => self.pay_from_reserve(points, receivers.len()),
            Payer::User(user) if !self.is_active(user) || receivers.contains(&user) => false,
            Payer::User(user) => {
                let Self { rate, users, rounding, .. } = self;
                let user = &mut users[user];
                let wallets = if user.is_manager { &[PEER, MANAGER][..] } else { &[PEER] };
                let payer = wallets.iter().find(|wallet| covers(*rate, user.balances[**wallet], scaled));
                payer.is_some_and(|wallet| {
                    user.spent[*wallet] += each * count;
                    Self::debit(*rate, &mut user.balances[*wallet], rounding, each * count, scaled)
                })
            }
        };
        receivers.iter().for_each(|receiver| self.users[*receiver].balances[USER] += each);
        self.recognitions += receivers.len();
        self.events += receivers.len();
        is_paid
    }

    fn redeem(&mut self, user: usize, points: i128) -> bool {
        if points == 0 || !self.is_active(user) {
            return false;
        }
        let price = worth(self.rate, points);
        self.redemptions.push(Redemption { user, amount: price, is_refunded: false });
        self.events += 1;
        self.redeemed += price;
        let wallets = &mut self.users[user];
        wallets.spent[USER] += price;
        Self::debit(self.rate, &mut wallets.balances[USER], &mut self.rounding, price, points * NANODOLLARS)
    }

    fn refund(&mut self, redemption: usize) -> bool {
        let Some(Redemption { user, amount, is_refunded }) = self.redemptions.get(redemption).cloned() else {
            return false;
        };
        self.redemptions[redemption].is_refunded = true;
        self.redeemed -= amount;
        self.users[user].balances[USER] += amount;
        !is_refunded && self.is_active(user)
    }

    /// Moves the difference between a wallet and the worth of the points. A wallet that already shows the points does
    /// not change.
    fn replace(&mut self, user: usize, wallet: usize, points: i128) -> bool {
        if !self.is_active(user) || (wallet == MANAGER && !self.users[user].is_manager) {
            return false;
        }
        let balance = self.users[user].balances[wallet];
        if shown(self.rate, balance) == points {
            return true;
        }
        let difference = worth(self.rate, points) - balance;
        let Self { rate, users, reserve, rounding, .. } = self;
        let wallet = &mut users[user].balances[wallet];
        if points < shown(*rate, balance) {
            *wallet += difference;
            *reserve -= difference;
            return true;
        }
        *wallet += difference;
        Self::debit(*rate, reserve, rounding, difference, difference * *rate)
    }
}
