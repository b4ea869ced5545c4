//! The effects of operations on the model. They share no arithmetic with the domain.
//!
//! Amounts are nano-dollars. The rules are those of docs/specified-behaviour.md: an amount is rounded half to even, a
//! balance shows the points that it covers with a tolerance, and the company adds what a payer is short of within that
//! tolerance.

use super::state::{MANAGER, Model, PEER, Redemption, USER, UnfinishedDistribution, Verdict, to_i128};
use super::transitions::{Payer, Transition};

const NANODOLLARS: i128 = 1_000_000_000;

/// A distribution to more receivers is paid in steps.
const RECEIVERS_PER_STEP: usize = 1_000;

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

impl Model {
    /// Whether the reserve covers recognitions that are submitted together, whatever their order.
    pub fn covers_together(&self, receivers: usize, points: i128) -> bool {
        self.reserve >= (worth(self.rate, points) + 1) * to_i128(receivers)
    }

    /// Executes an operation. One that is refused changes nothing.
    pub fn apply(&mut self, transition: &Transition) -> Verdict {
        let before = self.clone();
        let verdict = self.try_apply(transition);
        if verdict == Verdict::Refused {
            *self = before;
        } else if transition.has_key() {
            self.requests_with_key += 1;
        }
        verdict
    }

    fn try_apply(&mut self, transition: &Transition) -> Verdict {
        let is_done = match transition {
            Transition::CreateUser { is_manager, email } => {
                let is_taken = self.find_active_by_email(*email).is_some();
                self.users.push(Self::new_user(*email, *is_manager));
                !is_taken
            }
            Transition::UpdateUser { user, is_manager, email } => {
                self.update_user(*user, *is_manager, *email)
            }
            Transition::DeleteUser(user) => self.delete_user(*user),
            Transition::ChangeOwner { email } => {
                self.owner = self.find_active_by_email(*email).unwrap_or_else(|| {
                    self.users.push(Self::new_user(*email, false));
                    self.users.len() - 1
                });
                true
            }
            Transition::TransferCompany => {
                self.provider = 1 - self.provider;
                true
            }
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
            Transition::DistributeToAll { wallet, points } => self.distribute_to_all(*wallet, *points),
            Transition::FinishDistributions => {
                std::mem::take(&mut self.unfinished)
                    .into_iter()
                    .for_each(|unfinished| self.finish(unfinished));
                true
            }
            Transition::Send { payer, receivers, points } => self.send(*payer, receivers, *points),
            Transition::SendTogether { receivers, points } => {
                receivers.iter().all(|receiver| self.send(Payer::Company, &[*receiver], *points))
            }
            Transition::Redeem { user, points } => self.redeem(*user, *points),
            Transition::Refund(redemption) => self.refund(*redemption),
            Transition::Override { user, wallet, points } => self.replace(*user, *wallet, *points),
            Transition::Retry(_) => true, // without another effect
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
        let count = to_i128(count);
        let price = worth(self.rate, points) * count;
        Self::debit(self.rate, &mut self.reserve, &mut self.rounding, price, points * count * NANODOLLARS)
    }

    fn update_user(&mut self, number: usize, is_manager: Option<bool>, email: Option<usize>) -> bool {
        let holder = email.and_then(|email| self.find_active_by_email(email));
        let user = &mut self.users[number];
        user.email = email.unwrap_or(user.email);
        user.is_manager = is_manager.unwrap_or(user.is_manager);
        user.has_manager_wallet |= user.is_manager;
        user.is_active && holder.is_none_or(|holder| holder == number)
    }

    fn delete_user(&mut self, user: usize) -> bool {
        if user == self.owner {
            return false;
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

    fn distribute_to_all(&mut self, wallet: usize, points: i128) -> bool {
        let receives =
            |user: &usize| self.is_active(*user) && (wallet != MANAGER || self.users[*user].is_manager);
        let receivers: Vec<usize> = (0..self.users.len()).filter(receives).collect();
        let crowd = if wallet == MANAGER { 0 } else { self.crowd };
        let (each, count) = (worth(self.rate, points), receivers.len() + crowd);
        if points == 0 || count == 0 || !self.pay_from_reserve(points, count) {
            return false;
        }
        let distribution = UnfinishedDistribution { wallet, receivers, crowd, each };
        if count > RECEIVERS_PER_STEP {
            self.unfinished.push(distribution);
        } else {
            self.finish(distribution);
        }
        true
    }

    /// The share of a user who has been deleted in the meantime returns to the reserve.
    fn finish(&mut self, distribution: UnfinishedDistribution) {
        let UnfinishedDistribution { wallet, receivers, crowd, each } = distribution;
        for receiver in receivers {
            let user = &mut self.users[receiver];
            let credited = if user.is_active { &mut user.balances[wallet] } else { &mut self.reserve };
            *credited += each;
        }
        if crowd > 0 {
            self.crowd_balances[wallet] += each;
        }
    }

    fn send(&mut self, payer: Payer, receivers: &[usize], points: i128) -> bool {
        let is_range = (1..=5_000 * self.rate).contains(&points);
        if !is_range || receivers.is_empty() || !receivers.iter().all(|user| self.is_active(*user)) {
            return false;
        }
        let count = to_i128(receivers.len());
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
        if !self.is_active(user) || (wallet == MANAGER && !self.users[user].has_manager_wallet) {
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
