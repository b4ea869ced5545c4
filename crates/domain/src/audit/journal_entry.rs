//! Checks the transfers of a journal entry against those that the entry must have.

use super::steps::{StepsJudge, Terms};
use super::{End, Movement, Sent};
use crate::model::{Act, Findings, JournalEntry};
use crate::money::{Amount, Points, Price};
use crate::values::{UserId, fit};
use crate::wallets::{Account, AccountKind, Reason};

/// Checks the transfers and the recognitions of one journal entry, each in the order of the legs. The
/// recognition of a leg comes before its transfer.
pub struct JournalEntryAudit<'a> {
    cause: &'a JournalEntry,
    /// The redemption that a refund returns.
    redemption: Option<&'a JournalEntry>,
    /// The accounts that may pay.
    payers: Vec<Account>,
    /// The price of each of its transfers, if it follows from the entry alone.
    price: Option<Price>,
    legs: i32,
    recognitions: i32,
    receiver: Option<UserId>,
    payer: Option<End>,
    rounding: Option<Movement>,
    /// The amount for one receiver, as the transfer says.
    exact: Option<i64>,
    /// For a distribution in steps.
    steps: Option<StepsJudge>,
    /// The number of receivers that are still to be paid; `None` if no steps are in progress.
    waiting: Option<i64>,
}

impl<'a> JournalEntryAudit<'a> {
    /// Starts with a journal entry. For a refund, `redemption` is the refunded redemption.
    pub fn new(cause: &'a JournalEntry, redemption: Option<&'a JournalEntry>) -> Self {
        let redeemed = redemption.and_then(|redemption| Some(redemption.price(None)?.each));
        Self {
            cause,
            redemption,
            payers: cause.payers(),
            price: cause.price(redeemed),
            legs: 0,
            recognitions: 0,
            receiver: None,
            payer: None,
            rounding: None,
            exact: None,
            steps: None,
            waiting: None,
        }
    }

    /// Marks the entry as a distribution in steps whose stored progress has this many receivers still to be
    /// paid.
    pub fn under_way(self, waiting: i64) -> Self {
        Self { waiting: Some(waiting), steps: Some(StepsJudge::default()), ..self }
    }

    fn name(&self, leg: i32) -> String {
        format!("leg {leg} of cause {}", self.cause.id)
    }

    /// Takes the next recognition.
    pub fn recognition(&mut self, it: &Sent, findings: &mut Findings) {
        self.recognitions += 1;
        self.receiver = Some(it.receiver);
        let Act::Sending(sending) = &self.cause.act else {
            return findings.add("recognition's cause", || {
                format!("recognition {} names cause {}, which sent nothing", it.id, self.cause.id)
            });
        };
        let fits = it.leg == self.recognitions
            && it.company == self.cause.company_id
            && it.sender == sending.sender.id()
            && it.receiver.as_uuid() != it.sender
            && it.created_at == self.cause.created_at;
        findings.demand(fits, "recognition's cause", || {
            format!("recognition {} is not as its cause {} says", it.id, self.cause.id)
        });
    }

    /// Takes the next transfer.
    pub fn transfer(&mut self, it: &Movement, findings: &mut Findings) {
        let cause = self.cause;
        let fits = it.company == cause.company_id
            && i64::from(it.rate) == cause.rate.get()
            && it.created_at == cause.created_at;
        findings.demand(fits, "transfer's cause", || {
            format!("{}: its company, rate or time is not its cause's", self.name(it.leg))
        });
        if it.leg == 0 {
            self.rounding = Some(*it);
            return;
        }
        if let Act::Distribution { wallet, points, receivers, .. } = cause.act
            && StepsJudge::concerns(cause, it)
        {
            return self.step(it, &Terms { wallet, points, receivers }, findings);
        }
        self.legs += 1;
        findings.demand(it.leg == self.legs, "transfer's leg", || {
            format!("{} stands where leg {} should", self.name(it.leg), self.legs)
        });
        let reason = Reason::from_code(it.reason);
        findings.demand(reason == self.cause.reason(), "transfer's reason", || {
            format!("{} has the reason {}", self.name(it.leg), it.reason)
        });
        findings.demand(self.parties_fit(it), "transfer's parties", || {
            format!(
                "{} goes from {} of {} to {} of {}",
                self.name(it.leg),
                AccountKind::stored_name(it.debit.kind),
                it.debit.owner,
                AccountKind::stored_name(it.credit.kind),
                it.credit.owner
            )
        });
        findings.demand(self.price_fits(it), "price", || {
            format!(
                "{} moves {} nano-dollars for {} points at {} points per dollar",
                self.name(it.leg),
                it.amount,
                it.points,
                it.rate
            )
        });
        self.payer.get_or_insert(it.debit);
        self.exact.get_or_insert(it.amount);
    }

    fn step(&mut self, it: &Movement, terms: &Terms, findings: &mut Findings) {
        if it.debit.is(Account::Reserve(self.cause.company_id)) {
            self.payer = Some(it.debit);
        }
        let fits = self.steps.get_or_insert_default().transfer(self.cause, terms, it);
        findings.demand(fits, "steps of a distribution", || {
            format!("{} is none that a distribution in steps has", self.name(it.leg))
        });
    }

    /// Ends the entry: none of its parts may be missing.
    pub fn end(self, findings: &mut Findings) {
        let wanted = fit(self.cause.act.legs());
        let (sent, moved) = match &self.cause.act {
            Act::Sending(sending) if sending.points == Points::ZERO => (wanted, 0),
            Act::Sending(_) => (wanted, wanted),
            Act::Distribution { .. } if self.steps.is_some() => (0, 0),
            _ => (0, wanted),
        };
        findings.demand(self.recognitions == sent, "recognitions of a sending", || {
            format!("cause {} has {} recognitions of {sent}", self.cause.id, self.recognitions)
        });
        findings.demand(self.legs == moved, "transfers of a cause", || {
            format!("cause {} has {} transfers of {moved}", self.cause.id, self.legs)
        });
        if let (Act::Distribution { receivers, .. }, Some(steps)) = (&self.cause.act, &self.steps) {
            findings.demand(steps.is_whole(*receivers, self.waiting), "steps of a distribution", || {
                format!("cause {} has not given or returned what it took", self.cause.id)
            });
        }
        findings.demand(
            self.waiting.is_none() || matches!(self.cause.act, Act::Distribution { .. }),
            "under way",
            || format!("cause {} is under way and no distribution", self.cause.id),
        );
        if let Some(rounding) = self.rounding {
            findings.demand(self.rounding_fits(&rounding), "rounding", || {
                format!("{} makes up {} nano-dollars", self.name(0), rounding.amount)
            });
        }
    }

    fn parties_fit(&self, it: &Movement) -> bool {
        let pays = self.payers.iter().any(|payer| it.debit.is(*payer));
        let receiver = match &self.cause.act {
            Act::Override { .. } => {
                return pays && it.debit != it.credit && self.payers.iter().any(|other| it.credit.is(*other));
            }
            Act::Distribution { wallet, .. } => return pays && it.credit.kind == wallet.kind().code(),
            Act::Sending(_) if self.payer.is_some_and(|payer| payer != it.debit) => return false,
            Act::Sending(_) => self.receiver,
            _ => self.redemption.and_then(|redemption| match redemption.act {
                Act::Redemption { user, .. } => Some(user),
                _ => None,
            }),
        };
        pays && self.cause.credit(receiver).is_some_and(|account| it.credit.is(account))
    }

    fn price_fits(&self, it: &Movement) -> bool {
        let shows = self.cause.rate.points(Amount::from_nanodollars(it.amount)).get() == it.points;
        match &self.cause.act {
            Act::Deletion { .. } => shows,
            // No fact records the earlier points of the wallet. The later points are checked with the wallet.
            Act::Override { .. } => it.points >= 1,
            act => {
                let is_refund = matches!(act, Act::Refund { .. });
                self.price.is_some_and(|price| price.each.nanodollars() == it.amount)
                    && it.points == self.cause.points().get()
                    && (shows || !is_refund)
            }
        }
    }

    fn rounding_fits(&self, it: &Movement) -> bool {
        let price = match &self.cause.act {
            Act::Sending(_) | Act::Distribution { .. } | Act::Redemption { .. } | Act::Withdrawal { .. } => {
                self.price
            }
            Act::Override { .. } => self.exact.and_then(|nanodollars| {
                Price::exactly(self.cause.rate, Amount::from_nanodollars(nanodollars), Points::ZERO)
            }),
            _ => None,
        };
        let most = price.and_then(|price| price.total.checked_sub(price.threshold)).map(Amount::nanodollars);
        it.debit.is(Account::Rounding(self.cause.company_id))
            && self.payer == Some(it.credit)
            && it.reason == Reason::Rounding.code()
            && it.points == 0
            && it.amount >= 1
            && most.is_some_and(|most| it.amount <= most)
    }
}
