//! Decides payments: who pays, who is credited, and when a payment is refused. This is the only code that
//! computes a balance.

use std::collections::BTreeSet;

use super::rules::{LedgerError, require};
use super::{AccountBook, AccountState, Moved, Paid, Payment, PaymentOutcome, Transfer};
use crate::money::{Amount, Points, Price, difference};
use crate::values::fit;
use crate::wallets::{Account, Reason};

/// The result of a debit.
struct Debited {
    payer: Account,
    /// The entry number of the first payment in the history of the account.
    first_place: i64,
    /// The balance, if this debit took it from at least the alert threshold to below it.
    low: Option<Amount>,
}

const NOTHING: PaymentOutcome = PaymentOutcome::Paid(Paid { transfers: 0, low: None });

fn overflow() -> LedgerError {
    LedgerError::Broken("an amount is out of range".to_owned())
}

impl AccountBook {
    /// Makes a payment. After an error, and after any outcome except [`PaymentOutcome::Paid`], parts of the
    /// payment may have been made: the caller [rolls back](Self::roll_back).
    ///
    /// # Errors
    ///
    /// If an account that the payment depends on is not loaded, or the payment would break a rule that the
    /// databases check.
    pub fn pay(&mut self, payment: &Payment<'_>) -> Result<PaymentOutcome, LedgerError> {
        match payment.moved {
            Moved::Price { payers, credits, price, .. } if price.each.is_zero() => {
                self.pay_nothing(payers, credits)
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

    /// Checks a payment of no points: it moves nothing, but the first payer and the receivers must be open.
    fn pay_nothing(&self, payers: &[Account], credits: &[Account]) -> Result<PaymentOutcome, LedgerError> {
        if !self.are_open(credits)? {
            return Ok(PaymentOutcome::Closed);
        }
        if !self.are_open(payers.get(..1).unwrap_or_default())? {
            return Ok(PaymentOutcome::Insufficient);
        }
        Ok(NOTHING)
    }

    fn pay_price(
        &mut self,
        payment: &Payment<'_>,
        payers: &[Account],
        credits: &[Account],
        price: Price,
        points: Points,
    ) -> Result<PaymentOutcome, LedgerError> {
        // The lock order determines which refusal comes first.
        let payer_is_first =
            payers.first().map(|payer| payer.kind()) < credits.first().map(|credit| credit.kind());
        let is_open = self.are_open(credits)?;
        let is_once = credits.iter().collect::<BTreeSet<_>>().len() == credits.len();
        let can_credit = is_open && is_once;
        if !payer_is_first && !can_credit {
            return Ok(PaymentOutcome::Closed);
        }
        let Some(debited) = self.debit(payment, payers, credits.len(), price)? else {
            return Ok(PaymentOutcome::Insufficient);
        };
        if !can_credit {
            return Ok(PaymentOutcome::Closed);
        }
        for ((leg, place), credit) in (1..).zip(debited.first_place..).zip(credits) {
            let credited = (*credit, self.credit(*credit, price.each)?);
            self.transfer(payment, leg, ((debited.payer, place), credited), (price.each, points))?;
        }
        let transfers = fit(credits.len());
        Ok(PaymentOutcome::Paid(Paid { transfers, low: debited.low }))
    }

    /// Empties and closes the open wallets.
    fn pay_everything(
        &mut self,
        payment: &Payment<'_>,
        wallets: &[Account],
        to: Account,
    ) -> Result<PaymentOutcome, LedgerError> {
        if wallets.is_empty() {
            return Ok(PaymentOutcome::Closed);
        }
        let mut transfers = 0;
        for wallet in wallets {
            if self.open(*wallet)?.is_none() {
                continue;
            }
            let state = self.account_mut(*wallet)?;
            let (amount, place) = (state.balance, state.entry_count + 1);
            state.closed_at = Some(payment.at);
            if amount.is_zero() {
                continue;
            }
            state.spent = state.spent.checked_add(amount).unwrap_or(Amount::MAX);
            (state.balance, state.entry_count) = (Amount::ZERO, place);
            transfers += 1;
            let credited = (to, self.credit(to, amount)?);
            let points = payment.rate.points(amount);
            self.transfer(payment, transfers, ((*wallet, place), credited), (amount, points))?;
        }
        Ok(PaymentOutcome::Paid(Paid { transfers, low: None }))
    }

    fn pay_sum(
        &mut self,
        payment: &Payment<'_>,
        (from, to): (Account, Account),
        price: Price,
        leg: u32,
    ) -> Result<PaymentOutcome, LedgerError> {
        let Some(debited) = self.debit(payment, &[from], 1, price)? else {
            return Ok(PaymentOutcome::Insufficient);
        };
        let ends = ((from, debited.first_place), (to, self.credit(to, price.total)?));
        self.transfer(payment, leg, ends, (price.total, price.points_total))?;
        Ok(PaymentOutcome::Paid(Paid { transfers: 1, low: debited.low }))
    }

    /// Pays the same amount to each open receiver.
    fn pay_share(
        &mut self,
        payment: &Payment<'_>,
        from: Account,
        (to, first_leg): (&[Account], u32),
        each: Amount,
        points: Points,
    ) -> Result<PaymentOutcome, LedgerError> {
        let mut open = Vec::with_capacity(to.len());
        for (leg, credit) in (first_leg..).zip(to) {
            if self.open(*credit)?.is_some() {
                open.push((leg, credit));
            }
        }
        if open.is_empty() {
            return Ok(NOTHING);
        }
        let count = fit(open.len());
        let total = each.checked_mul(count).ok_or_else(overflow)?;
        let price = Price { each, total, threshold: total, points_total: points };
        let Some(debited) = self.debit(payment, &[from], open.len(), price)? else {
            return Ok(PaymentOutcome::Insufficient);
        };
        for (place, (leg, credit)) in (debited.first_place..).zip(&open) {
            let credited = (**credit, self.credit(**credit, each)?);
            self.transfer(payment, *leg, ((from, place), credited), (each, points))?;
        }
        let transfers = fit(open.len());
        Ok(PaymentOutcome::Paid(Paid { transfers, low: None }))
    }

    fn pay_difference(
        &mut self,
        payment: &Payment<'_>,
        wallet: Account,
        reserve: Account,
        points: Points,
    ) -> Result<PaymentOutcome, LedgerError> {
        let Some(state) = self.open(wallet)? else { return Ok(PaymentOutcome::Closed) };
        let by = difference(payment.rate, state.balance, points);
        let Some(by) = by.map_err(|cause| LedgerError::Broken(cause.to_string()))? else {
            return Ok(NOTHING);
        };
        let (from, to) = if by.out { (wallet, reserve) } else { (reserve, wallet) };
        self.pay_price(payment, &[from], &[to], by.price, by.points)
    }

    /// An open account; `None` for one that is closed or was never opened.
    fn open(&self, account: Account) -> Result<Option<&AccountState>, LedgerError> {
        if !self.is_loaded(account) {
            return Err(LedgerError::AccountNotLoaded(account));
        }
        Ok(self.account(account).filter(|account| account.is_open()))
    }

    /// Whether an account was opened and is not closed.
    pub(crate) fn is_open(&self, account: Account) -> Result<bool, LedgerError> {
        Ok(self.open(account)?.is_some())
    }

    fn are_open(&self, accounts: &[Account]) -> Result<bool, LedgerError> {
        for account in accounts {
            if !self.is_open(*account)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Credits an open account. Returns the number of the entry in the account's history.
    fn credit(&mut self, account: Account, amount: Amount) -> Result<i64, LedgerError> {
        let state = self.account_mut(account)?;
        require(state.is_open(), "an account that is credited is open")?;
        state.balance = state.balance.checked_add(amount).ok_or_else(overflow)?;
        state.entry_count += 1;
        state.check(account.kind())?;
        Ok(state.entry_count)
    }

    /// Debits the first payer that is open and covers the price. The company's rounding account covers a
    /// shortfall within the tolerance.
    fn debit(
        &mut self,
        payment: &Payment<'_>,
        payers: &[Account],
        count: usize,
        price: Price,
    ) -> Result<Option<Debited>, LedgerError> {
        let Some(payer) = self.first_that_covers(payers, price)? else { return Ok(None) };
        let state = self.account_mut(payer)?;
        let before = state.balance;
        let rest = before.checked_sub(price.total).ok_or_else(overflow)?;
        let is_short = rest.is_negative() && !payer.kind().is_outside();
        let short = if is_short { price.total.checked_sub(before) } else { Some(Amount::ZERO) };
        state.rounding_shortfall = short.ok_or_else(overflow)?;
        state.balance = if is_short { Amount::ZERO } else { rest };
        let count: i64 = fit(count);
        let first_place = state.entry_count + i64::from(is_short) + 1;
        state.entry_count = first_place + count - 1;
        if payment.reason.counts_as_spent() {
            state.spent = state.spent.checked_add(price.total).unwrap_or(Amount::MAX);
        }
        state.check(payer.kind())?;
        let (balance, rounding_shortfall) = (state.balance, state.rounding_shortfall);
        let low = state.alert_below.filter(|alert| before >= *alert && balance < *alert).map(|_| balance);
        if is_short {
            self.make_up(payment, (payer, first_place - 1), rounding_shortfall)?;
        }
        Ok(Some(Debited { payer, first_place, low }))
    }

    fn first_that_covers(&self, payers: &[Account], price: Price) -> Result<Option<Account>, LedgerError> {
        for payer in payers {
            if self.open(*payer)?.is_some_and(|account| account.balance >= price.threshold) {
                return Ok(Some(*payer));
            }
        }
        Ok(None)
    }

    /// Moves the fraction of a point that the payer is short of from the company's rounding account to the
    /// payer.
    fn make_up(
        &mut self,
        payment: &Payment<'_>,
        payer: (Account, i64),
        amount: Amount,
    ) -> Result<(), LedgerError> {
        let rounding = Account::Rounding(payment.company);
        let state = self.account_mut(rounding)?;
        state.balance = state.balance.checked_sub(amount).ok_or_else(overflow)?;
        state.entry_count += 1;
        state.check(rounding.kind())?;
        let debit = (rounding, state.entry_count);
        self.transfer(payment, 0, (debit, payer), (amount, Points::ZERO))
    }

    /// Adds one leg of a payment.
    fn transfer(
        &mut self,
        payment: &Payment<'_>,
        leg: u32,
        (debit, credit): ((Account, i64), (Account, i64)),
        (amount, points): (Amount, Points),
    ) -> Result<(), LedgerError> {
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
        transfer.check()?;
        require(self.add(transfer), "a leg is added once")
    }
}
