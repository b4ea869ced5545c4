//! Decides payments: who pays, who is credited, and when a payment is refused. This is the only code that
//! computes a balance.

use std::collections::BTreeSet;

use super::rules::{LedgerError, amount_out_of_range, require_rule};
use super::{
    AccountBook, AccountState, Paid, Payment, PaymentKind, PaymentOutcome, ThresholdCrossing, Transfer,
};
use crate::money::{Amount, Points, Price, balance_difference, rounding_shortfall};
use crate::values::checked_cast;
use crate::wallets::{Account, Reason};

/// The result of a debit.
struct DebitResult {
    payer: Account,
    /// The sequence number of the first entry of this debit in the account.
    first_sequence: i64,
    /// Set if the debit took the balance below the alert threshold; `None` if it was already below it.
    threshold_crossing: Option<ThresholdCrossing>,
}

const NOTHING_PAID: PaymentOutcome =
    PaymentOutcome::Paid(Paid { transfer_count: 0, threshold_crossing: None });

impl AccountBook {
    /// Makes a payment. After an error, and after any outcome except [`PaymentOutcome::Paid`], parts of the
    /// payment may have been made, so the caller must [roll back](Self::roll_back_to_savepoint).
    ///
    /// # Errors
    ///
    /// If an account that the payment depends on is not loaded, or the payment would break a rule that the
    /// databases check.
    pub fn pay(&mut self, payment: &Payment<'_>) -> Result<PaymentOutcome, LedgerError> {
        match payment.kind {
            PaymentKind::PricePerReceiver { payers, credits, price, .. } if price.each.is_zero() => {
                self.pay_zero_price(payers, credits)
            }
            PaymentKind::PricePerReceiver { payers, credits, price, points } => {
                self.pay_price_per_receiver(payment, payers, credits, price, points)
            }
            PaymentKind::EmptyWallets { wallets, to } => self.empty_wallets(payment, wallets, to),
            PaymentKind::SingleLeg { from, to, price, leg } => {
                self.pay_single_leg(payment, from, to, price, leg)
            }
            PaymentKind::SharePerReceiver { from, to, first_leg, each, points } => {
                self.pay_share_per_receiver(payment, from, to, first_leg, each, points)
            }
            PaymentKind::SetBalance { wallet, reserve, points } => {
                self.set_wallet_balance(payment, wallet, reserve, points)
            }
        }
    }

    /// Checks a payment of zero points: it moves nothing, but the first payer and the receivers must be open.
    fn pay_zero_price(&self, payers: &[Account], credits: &[Account]) -> Result<PaymentOutcome, LedgerError> {
        if !self.are_open(credits)? {
            return Ok(PaymentOutcome::AccountClosed);
        }
        if !self.are_open(payers.get(..1).unwrap_or_default())? {
            return Ok(PaymentOutcome::InsufficientFunds);
        }
        Ok(NOTHING_PAID)
    }

    fn pay_price_per_receiver(
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
        let are_distinct = credits.iter().collect::<BTreeSet<_>>().len() == credits.len();
        require_rule(are_distinct, "each account is credited once")?;
        let can_credit = self.are_open(credits)?;
        if !payer_is_first && !can_credit {
            return Ok(PaymentOutcome::AccountClosed);
        }
        let Some(debited) = self.debit_covering_payer(payment, payers, credits.len(), price)? else {
            return Ok(PaymentOutcome::InsufficientFunds);
        };
        if !can_credit {
            return Ok(PaymentOutcome::AccountClosed);
        }
        for ((leg, sequence), credit) in (1..).zip(debited.first_sequence..).zip(credits) {
            let credited = (*credit, self.credit_account(*credit, price.each)?);
            self.add_leg(payment, leg, (debited.payer, sequence), credited, price.each, points)?;
        }
        let transfer_count = checked_cast(credits.len());
        Ok(PaymentOutcome::Paid(Paid { transfer_count, threshold_crossing: debited.threshold_crossing }))
    }

    /// Empties and closes the open wallets.
    fn empty_wallets(
        &mut self,
        payment: &Payment<'_>,
        wallets: &[Account],
        to: Account,
    ) -> Result<PaymentOutcome, LedgerError> {
        if wallets.is_empty() {
            return Ok(PaymentOutcome::AccountClosed);
        }
        let mut transfer_count = 0;
        for wallet in wallets {
            if self.find_open_account(*wallet)?.is_none() {
                continue;
            }
            let state = self.account_mut(*wallet)?;
            let (amount, sequence) = (state.balance, state.entry_count + 1);
            state.closed_at = Some(payment.at);
            if amount.is_zero() {
                continue;
            }
            state.spent = state.spent.checked_add(amount).unwrap_or(Amount::MAX);
            (state.balance, state.entry_count) = (Amount::ZERO, sequence);
            transfer_count += 1;
            let credited = (to, self.credit_account(to, amount)?);
            let points = payment.rate.shown_points(amount);
            self.add_leg(payment, transfer_count, (*wallet, sequence), credited, amount, points)?;
        }
        Ok(PaymentOutcome::Paid(Paid { transfer_count, threshold_crossing: None }))
    }

    fn pay_single_leg(
        &mut self,
        payment: &Payment<'_>,
        from: Account,
        to: Account,
        price: Price,
        leg: u32,
    ) -> Result<PaymentOutcome, LedgerError> {
        let Some(debited) = self.debit_covering_payer(payment, &[from], 1, price)? else {
            return Ok(PaymentOutcome::InsufficientFunds);
        };
        let credited = (to, self.credit_account(to, price.total)?);
        self.add_leg(
            payment,
            leg,
            (from, debited.first_sequence),
            credited,
            price.total,
            price.points_total,
        )?;
        Ok(PaymentOutcome::Paid(Paid { transfer_count: 1, threshold_crossing: debited.threshold_crossing }))
    }

    /// Pays the same amount to each open receiver.
    fn pay_share_per_receiver(
        &mut self,
        payment: &Payment<'_>,
        from: Account,
        to: &[Account],
        first_leg: u32,
        each: Amount,
        points: Points,
    ) -> Result<PaymentOutcome, LedgerError> {
        let mut open = Vec::with_capacity(to.len());
        for (leg, credit) in (first_leg..).zip(to) {
            if self.find_open_account(*credit)?.is_some() {
                open.push((leg, credit));
            }
        }
        if open.is_empty() {
            return Ok(NOTHING_PAID);
        }
        let count = checked_cast(open.len());
        let total = each.checked_mul(count).ok_or_else(amount_out_of_range)?;
        let price = Price {
            each,
            total,
            threshold: total,
            points_total: points.checked_mul(count).ok_or_else(amount_out_of_range)?,
        };
        let Some(debited) = self.debit_covering_payer(payment, &[from], open.len(), price)? else {
            return Ok(PaymentOutcome::InsufficientFunds);
        };
        for (sequence, (leg, credit)) in (debited.first_sequence..).zip(&open) {
            let credited = (**credit, self.credit_account(**credit, each)?);
            self.add_leg(payment, *leg, (from, sequence), credited, each, points)?;
        }
        let transfer_count = checked_cast(open.len());
        Ok(PaymentOutcome::Paid(Paid { transfer_count, threshold_crossing: None }))
    }

    fn set_wallet_balance(
        &mut self,
        payment: &Payment<'_>,
        wallet: Account,
        reserve: Account,
        points: Points,
    ) -> Result<PaymentOutcome, LedgerError> {
        let Some(state) = self.find_open_account(wallet)? else { return Ok(PaymentOutcome::AccountClosed) };
        let change = balance_difference(payment.rate, state.balance, points);
        let Some(change) = change.map_err(|cause| LedgerError::Broken(cause.to_string()))? else {
            return Ok(NOTHING_PAID);
        };
        let (from, to) = if change.wallet_pays { (wallet, reserve) } else { (reserve, wallet) };
        self.pay_price_per_receiver(payment, &[from], &[to], change.price, change.points)
    }

    /// An open account; `None` for one that is closed or was never opened.
    fn find_open_account(&self, account: Account) -> Result<Option<&AccountState>, LedgerError> {
        if !self.is_loaded(account) {
            return Err(LedgerError::AccountNotLoaded(account));
        }
        Ok(self.account(account).filter(|account| account.is_open()))
    }

    /// Whether an account was opened and is not closed.
    pub(crate) fn is_open(&self, account: Account) -> Result<bool, LedgerError> {
        Ok(self.find_open_account(account)?.is_some())
    }

    fn are_open(&self, accounts: &[Account]) -> Result<bool, LedgerError> {
        for account in accounts {
            if !self.is_open(*account)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Credits an open account. Returns the sequence number of the new entry.
    fn credit_account(&mut self, account: Account, amount: Amount) -> Result<i64, LedgerError> {
        let state = self.account_mut(account)?;
        require_rule(state.is_open(), "an account that is credited is open")?;
        state.balance = state.balance.checked_add(amount).ok_or_else(amount_out_of_range)?;
        state.entry_count += 1;
        state.check_rules(account.kind())?;
        Ok(state.entry_count)
    }

    /// Debits the first payer that is open and covers the price. The company's rounding account covers a
    /// shortfall within the tolerance.
    fn debit_covering_payer(
        &mut self,
        payment: &Payment<'_>,
        payers: &[Account],
        count: usize,
        price: Price,
    ) -> Result<Option<DebitResult>, LedgerError> {
        let Some(payer) = self.find_covering_payer(payers, price)? else { return Ok(None) };
        let state = self.account_mut(payer)?;
        let before = state.balance;
        let is_outside = payer.kind().is_outside();
        let shortfall = if is_outside { Some(Amount::ZERO) } else { rounding_shortfall(&price, before) };
        state.rounding_shortfall = shortfall.ok_or_else(amount_out_of_range)?;
        let is_short = !state.rounding_shortfall.is_zero();
        let remaining = if is_short { Some(Amount::ZERO) } else { before.checked_sub(price.total) };
        state.balance = remaining.ok_or_else(amount_out_of_range)?;
        let count: i64 = checked_cast(count);
        let first_sequence = state.entry_count + i64::from(is_short) + 1;
        state.entry_count = first_sequence + count - 1;
        if payment.reason.counts_as_spent() {
            state.spent = state.spent.checked_add(price.total).unwrap_or(Amount::MAX);
        }
        state.check_rules(payer.kind())?;
        let (balance, rounding_shortfall) = (state.balance, state.rounding_shortfall);
        let crossed = state.alert_below.filter(|threshold| before >= *threshold && balance < *threshold);
        let threshold_crossing = crossed.map(|threshold| ThresholdCrossing { threshold, balance });
        if is_short {
            self.cover_shortfall(payment, (payer, first_sequence - 1), rounding_shortfall)?;
        }
        Ok(Some(DebitResult { payer, first_sequence, threshold_crossing }))
    }

    fn find_covering_payer(&self, payers: &[Account], price: Price) -> Result<Option<Account>, LedgerError> {
        for payer in payers {
            if self.find_open_account(*payer)?.is_some_and(|account| account.balance >= price.threshold) {
                return Ok(Some(*payer));
            }
        }
        Ok(None)
    }

    /// Moves the missing fraction of a point from the company's rounding account to the payer.
    fn cover_shortfall(
        &mut self,
        payment: &Payment<'_>,
        payer: (Account, i64),
        amount: Amount,
    ) -> Result<(), LedgerError> {
        let rounding = Account::Rounding(payment.company);
        let state = self.account_mut(rounding)?;
        state.balance = state.balance.checked_sub(amount).ok_or_else(amount_out_of_range)?;
        state.entry_count += 1;
        state.check_rules(rounding.kind())?;
        let debit = (rounding, state.entry_count);
        self.add_leg(payment, 0, debit, payer, amount, Points::ZERO)
    }

    /// Adds one leg of a payment. Each account has the sequence number of its entry.
    fn add_leg(
        &mut self,
        payment: &Payment<'_>,
        leg: u32,
        debit: (Account, i64),
        credit: (Account, i64),
        amount: Amount,
        points: Points,
    ) -> Result<(), LedgerError> {
        let reason = if leg == 0 { Reason::Rounding } else { payment.reason };
        let transfer = Transfer {
            entry_id: payment.entry_id,
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
        transfer.check_rules()?;
        require_rule(self.add_transfer(transfer), "a leg is added once")
    }
}

#[cfg(test)]
mod tests;
