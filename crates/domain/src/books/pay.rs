//! Making a payment, step by step as the databases make it, so that it ends and refuses alike.

use std::collections::BTreeSet;

use super::rules::require;
use super::{Books, Transfer};
use crate::money::{Amount, Points, Price, difference};
use crate::ports::{Moved, Outcome, Paid, Payment, StoreError};
use crate::values::fit;
use crate::wallets::{Account, Reason};

/// What a debit left behind.
struct Debited {
    payer: Account,
    /// Where the first of the payments stands among the movements of the account.
    first_place: i64,
    /// What the account holds, where this debit took it from at or above its alert to below.
    low: Option<Amount>,
}

const NOTHING: Outcome = Outcome::Paid(Paid { transfers: 0, low: None });

fn overflow() -> StoreError {
    StoreError::Broken("an amount is out of range".into())
}

impl Books {
    /// Makes a payment. One that is not answered with [`Outcome::Paid`], or fails, may have done a part of what it does.
    ///
    /// # Errors
    ///
    /// Where it would break a rule that the databases check, or an account is not in these books.
    pub fn pay(&mut self, payment: &Payment<'_>) -> Result<Outcome, StoreError> {
        match payment.moved {
            Moved::Price { payers, credits, price, .. } if price.each.is_zero() => {
                Ok(self.pay_nothing(payers, credits))
            }
            Moved::Price { payers, credits, price, points } => {
                self.pay_price(payment, payers, credits, price, points)
            }
            Moved::Everything { wallets, to } => self.pay_everything(payment, wallets, to),
            Moved::Sum { from, to, price, leg } => self.pay_sum(payment, (from, to), price, leg),
            Moved::Share { from, to, first_leg, each, points } => {
                self.pay_share(payment, from, (to, first_leg), each, points)
            }
            Moved::Difference { wallet, reserve, points } => {
                self.pay_difference(payment, wallet, reserve, points)
            }
        }
    }

    /// Whoever is named must be there.
    fn pay_nothing(&self, payers: &[Account], credits: &[Account]) -> Outcome {
        if !credits.iter().all(|it| self.is_open(*it)) {
            return Outcome::Closed;
        }
        if payers.first().is_some_and(|it| !self.is_open(*it)) {
            return Outcome::Insufficient;
        }
        NOTHING
    }

    fn pay_price(
        &mut self,
        payment: &Payment<'_>,
        payers: &[Account],
        credits: &[Account],
        price: Price,
        points: Points,
    ) -> Result<Outcome, StoreError> {
        // The order of the locks decides which refusal comes first.
        let payer_is_first = payers.first().map(|it| it.kind()) < credits.first().map(|it| it.kind());
        let is_open = credits.iter().all(|it| self.is_open(*it));
        let is_once = credits.iter().collect::<BTreeSet<_>>().len() == credits.len();
        let can_credit = is_open && is_once;
        if !payer_is_first && !can_credit {
            return Ok(Outcome::Closed);
        }
        let Some(debited) = self.debit(payment, payers, credits.len(), price)? else {
            return Ok(Outcome::Insufficient);
        };
        if !can_credit {
            return Ok(Outcome::Closed);
        }
        for ((leg, place), credit) in (1..).zip(debited.first_place..).zip(credits) {
            let credited = (*credit, self.credit(*credit, price.each, 1)?);
            self.transfer(payment, leg, ((debited.payer, place), credited), (price.each, points))?;
        }
        let transfers = fit(credits.len());
        Ok(Outcome::Paid(Paid { transfers, low: debited.low }))
    }

    /// Empties and closes what is open.
    fn pay_everything(
        &mut self,
        payment: &Payment<'_>,
        wallets: &[Account],
        to: Account,
    ) -> Result<Outcome, StoreError> {
        if wallets.is_empty() {
            return Ok(Outcome::Closed);
        }
        let mut transfers = 0;
        for wallet in wallets {
            if !self.is_open(*wallet) {
                continue;
            }
            let held = self.account_mut(*wallet)?;
            let (amount, place) = (held.balance, held.movements + 1);
            held.is_closed = true;
            if amount.is_zero() {
                continue;
            }
            held.spent = held.spent.checked_add(amount).unwrap_or(Amount::MAX);
            (held.balance, held.movements) = (Amount::ZERO, place);
            transfers += 1;
            let credited = (to, self.credit(to, amount, 1)?);
            let points = payment.rate.points(amount);
            self.transfer(payment, transfers, ((*wallet, place), credited), (amount, points))?;
        }
        Ok(Outcome::Paid(Paid { transfers, low: None }))
    }

    fn pay_sum(
        &mut self,
        payment: &Payment<'_>,
        (from, to): (Account, Account),
        price: Price,
        leg: u32,
    ) -> Result<Outcome, StoreError> {
        let Some(debited) = self.debit(payment, &[from], 1, price)? else {
            return Ok(Outcome::Insufficient);
        };
        let ends = ((from, debited.first_place), (to, self.credit(to, price.total, 1)?));
        self.transfer(payment, leg, ends, (price.total, price.points_total))?;
        Ok(Outcome::Paid(Paid { transfers: 1, low: debited.low }))
    }

    /// The same to each of those who are open.
    fn pay_share(
        &mut self,
        payment: &Payment<'_>,
        from: Account,
        (to, first_leg): (&[Account], u32),
        each: Amount,
        points: Points,
    ) -> Result<Outcome, StoreError> {
        let open: Vec<_> = (first_leg..).zip(to).filter(|(_, it)| self.is_open(**it)).collect();
        if open.is_empty() {
            return Ok(NOTHING);
        }
        let count = fit(open.len());
        let total = each.checked_mul(count).ok_or_else(overflow)?;
        let price = Price { each, total, threshold: total, points_total: points };
        let Some(debited) = self.debit(payment, &[from], open.len(), price)? else {
            return Ok(Outcome::Insufficient);
        };
        for (place, (leg, credit)) in (debited.first_place..).zip(&open) {
            let credited = (**credit, self.credit(**credit, each, 1)?);
            self.transfer(payment, *leg, ((from, place), credited), (each, points))?;
        }
        let transfers = fit(open.len());
        Ok(Outcome::Paid(Paid { transfers, low: None }))
    }

    fn pay_difference(
        &mut self,
        payment: &Payment<'_>,
        wallet: Account,
        reserve: Account,
        points: Points,
    ) -> Result<Outcome, StoreError> {
        let Some(held) = self.accounts.get(&wallet).filter(|it| !it.is_closed) else {
            return Ok(Outcome::Closed);
        };
        let by = difference(payment.rate, held.balance, points);
        let Some(by) = by.map_err(|cause| StoreError::Broken(cause.to_string()))? else { return Ok(NOTHING) };
        let (from, to) = if by.out { (wallet, reserve) } else { (reserve, wallet) };
        self.pay_price(payment, &[from], &[to], by.price, by.points)
    }

    fn is_open(&self, account: Account) -> bool {
        self.accounts.get(&account).is_some_and(|it| !it.is_closed)
    }

    /// Credits an open account; answers the place of the last of so many movements.
    fn credit(&mut self, account: Account, amount: Amount, count: i64) -> Result<i64, StoreError> {
        let held = self.account_mut(account)?;
        require(!held.is_closed, "who is credited is open")?;
        held.balance = held.balance.checked_add(amount).ok_or_else(overflow)?;
        held.movements += count;
        held.judge(account.kind())?;
        Ok(held.movements)
    }

    /// Debits the first payer that is open and covers the price, and has the company make up what it is short of.
    fn debit(
        &mut self,
        payment: &Payment<'_>,
        payers: &[Account],
        count: usize,
        price: Price,
    ) -> Result<Option<Debited>, StoreError> {
        let covers = |it: &&Account| {
            self.accounts.get(it).is_some_and(|it| !it.is_closed && it.balance >= price.threshold)
        };
        let Some(payer) = payers.iter().find(covers).copied() else { return Ok(None) };
        let held = self.account_mut(payer)?;
        let before = held.balance;
        let rest = before.checked_sub(price.total).ok_or_else(overflow)?;
        let is_short = rest.is_negative() && !payer.kind().is_outside();
        let short = if is_short { price.total.checked_sub(before) } else { Some(Amount::ZERO) };
        held.made_up = short.ok_or_else(overflow)?;
        held.balance = if is_short { Amount::ZERO } else { rest };
        let count: i64 = fit(count);
        let first_place = held.movements + i64::from(is_short) + 1;
        held.movements = first_place + count - 1;
        if payment.reason.counts_as_spent() {
            held.spent = held.spent.checked_add(price.total).unwrap_or(Amount::MAX);
        }
        held.judge(payer.kind())?;
        let (balance, made_up) = (held.balance, held.made_up);
        let low = held.alert_below.filter(|alert| before >= *alert && balance < *alert).map(|_| balance);
        if is_short {
            self.make_up(payment, (payer, first_place - 1), made_up)?;
        }
        Ok(Some(Debited { payer, first_place, low }))
    }

    /// The fraction of a point that the payer was short of comes from the company's rounding account.
    fn make_up(
        &mut self,
        payment: &Payment<'_>,
        payer: (Account, i64),
        amount: Amount,
    ) -> Result<(), StoreError> {
        let rounding = Account::Rounding(payment.company);
        let held = self.account_mut(rounding)?;
        held.balance = held.balance.checked_sub(amount).ok_or_else(overflow)?;
        held.movements += 1;
        held.judge(rounding.kind())?;
        let debit = (rounding, held.movements);
        self.transfer(payment, 0, (debit, payer), (amount, Points::ZERO))
    }

    /// Writes one leg of a payment.
    fn transfer(
        &mut self,
        payment: &Payment<'_>,
        leg: u32,
        (debit, credit): ((Account, i64), (Account, i64)),
        (amount, points): (Amount, Points),
    ) -> Result<(), StoreError> {
        let reason = if leg == 0 { Reason::Rounding } else { payment.reason };
        let transfer = Transfer {
            cause: payment.cause,
            leg,
            company: payment.company,
            debit,
            credit,
            amount,
            points,
            rate: payment.rate,
            reason,
            at: payment.at,
        };
        transfer.judge()?;
        require(self.legs.insert((payment.cause, leg)), "a leg is written once")?;
        self.transfers.push(transfer);
        Ok(())
    }
}
