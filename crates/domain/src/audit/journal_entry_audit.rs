//! Checks the transfers of a journal entry against those that the entry must have.

use super::distribution_steps::StepsAudit;
use super::{AccountKey, StoredRecognition, StoredTransfer};
use crate::model::{EntryKind, Findings, JournalEntry};
use crate::money::{Amount, Points, Price};
use crate::values::{UserId, checked_cast};
use crate::wallets::{Account, AccountKind, Reason};

/// Checks the transfers and the recognitions of one journal entry, both in leg order. The recognition of a
/// leg must be passed before its transfer.
pub struct JournalEntryAudit<'a> {
    entry: &'a JournalEntry,
    /// The redemption that a refund returns.
    redemption: Option<&'a JournalEntry>,
    /// The accounts that may pay.
    payers: Vec<Account>,
    /// The price of each transfer of the entry; `None` if the price does not follow from the entry alone.
    price: Option<Price>,
    leg_count: i32,
    recognition_count: i32,
    receiver: Option<UserId>,
    payer: Option<AccountKey>,
    rounding: Option<StoredTransfer>,
    /// The amount of the first transfer.
    first_amount: Option<i64>,
    /// The transfers that were checked so far, if the entry is a distribution in steps.
    steps: Option<StepsAudit>,
    /// The number of receivers that are still to be paid; `None` if no steps are in progress.
    unpaid_receivers: Option<i64>,
}

impl<'a> JournalEntryAudit<'a> {
    /// Starts with a journal entry. For a refund, `redemption` is the refunded redemption.
    pub fn new(entry: &'a JournalEntry, redemption: Option<&'a JournalEntry>) -> Self {
        let redeemed = redemption.and_then(|redemption| Some(redemption.price_per_receiver(None)?.each));
        Self {
            entry,
            redemption,
            payers: entry.possible_payers(),
            price: entry.price_per_receiver(redeemed),
            leg_count: 0,
            recognition_count: 0,
            receiver: None,
            payer: None,
            rounding: None,
            first_amount: None,
            steps: None,
            unpaid_receivers: None,
        }
    }

    /// Marks the entry as a distribution whose steps are still in progress, with this many receivers still to
    /// be paid.
    pub fn with_unpaid_receivers(self, unpaid_receivers: i64) -> Self {
        Self { unpaid_receivers: Some(unpaid_receivers), steps: Some(StepsAudit::default()), ..self }
    }

    fn leg_name(&self, leg: i32) -> String {
        format!("leg {leg} of journal entry {}", self.entry.id)
    }

    /// Checks the next recognition.
    pub fn check_recognition(&mut self, recognition: &StoredRecognition, findings: &mut Findings) {
        self.recognition_count += 1;
        self.receiver = Some(recognition.receiver);
        let EntryKind::Recognition(sent) = &self.entry.kind else {
            return findings.add_violation("recognition's journal entry", || {
                format!(
                    "recognition {} refers to journal entry {}, which sent no recognitions",
                    recognition.id, self.entry.id
                )
            });
        };
        let is_valid = recognition.leg == self.recognition_count
            && recognition.company == self.entry.company_id
            && recognition.sender == sent.sender.id()
            && recognition.receiver.as_uuid() != recognition.sender
            && recognition.created_at == self.entry.created_at;
        findings.require(is_valid, "recognition's journal entry", || {
            format!("recognition {} differs from its journal entry {}", recognition.id, self.entry.id)
        });
    }

    /// Checks the next transfer.
    pub fn check_transfer(&mut self, transfer: &StoredTransfer, findings: &mut Findings) {
        let entry = self.entry;
        let is_valid = transfer.company == entry.company_id
            && i64::from(transfer.rate) == entry.rate.get()
            && Self::time_matches(entry, transfer);
        findings.require(is_valid, "transfer's journal entry", || {
            format!(
                "{}: its company, rate or time differs from that of its journal entry",
                self.leg_name(transfer.leg)
            )
        });
        if transfer.leg == 0 {
            self.rounding = Some(*transfer);
            return;
        }
        if StepsAudit::is_step_transfer(entry, transfer) {
            return self.check_step(transfer, findings);
        }
        self.leg_count += 1;
        findings.require(transfer.leg == self.leg_count, "transfer's leg", || {
            format!("{} is stored as leg {}", self.leg_name(transfer.leg), self.leg_count)
        });
        let reason = Reason::from_code(transfer.reason);
        findings.require(reason == self.entry.transfer_reason(), "transfer's reason", || {
            format!("{} has the reason {}", self.leg_name(transfer.leg), transfer.reason)
        });
        findings.require(self.parties_match(transfer), "transfer's parties", || {
            format!(
                "{} moves points from {} of {} to {} of {}",
                self.leg_name(transfer.leg),
                AccountKind::stored_name(transfer.debit.kind),
                transfer.debit.owner,
                AccountKind::stored_name(transfer.credit.kind),
                transfer.credit.owner
            )
        });
        findings.require(self.price_matches(transfer), "price", || {
            format!(
                "{} moves {} nano-dollars for {} points at {} points per dollar",
                self.leg_name(transfer.leg),
                transfer.amount,
                transfer.points,
                transfer.rate
            )
        });
        self.payer.get_or_insert(transfer.debit);
        self.first_amount.get_or_insert(transfer.amount);
    }

    /// A transfer has the time of its journal entry. Only the later steps of a distribution, which pay from the account
    /// in transit, happen later.
    fn time_matches(entry: &JournalEntry, transfer: &StoredTransfer) -> bool {
        let is_step = matches!(entry.kind, EntryKind::Distribution { .. })
            && transfer.debit.is_account(Account::Transit(entry.company_id));
        transfer.created_at == entry.created_at || (is_step && transfer.created_at > entry.created_at)
    }

    fn check_step(&mut self, transfer: &StoredTransfer, findings: &mut Findings) {
        if transfer.debit.is_account(Account::Reserve(self.entry.company_id)) {
            self.payer = Some(transfer.debit);
        }
        let is_valid = self.steps.get_or_insert_default().check_transfer(self.entry, transfer);
        findings.require(is_valid, "steps of a distribution", || {
            format!("{} does not belong to a distribution in steps", self.leg_name(transfer.leg))
        });
    }

    /// Finishes the entry: adds a violation for each part that is missing.
    pub fn check_completeness(self, findings: &mut Findings) {
        let leg_count = checked_cast(self.entry.kind.leg_count());
        let (expected_recognitions, expected_transfers) = match &self.entry.kind {
            EntryKind::Recognition(sent) if sent.points == Points::ZERO => (leg_count, 0),
            EntryKind::Recognition(_) => (leg_count, leg_count),
            EntryKind::Distribution { .. } if self.steps.is_some() => (0, 0),
            _ => (0, leg_count),
        };
        findings.require(
            self.recognition_count == expected_recognitions,
            "recognitions of a journal entry",
            || {
                format!(
                    "journal entry {} has {} of {expected_recognitions} recognitions",
                    self.entry.id, self.recognition_count
                )
            },
        );
        findings.require(self.leg_count == expected_transfers, "transfers of a journal entry", || {
            format!(
                "journal entry {} has {} of {expected_transfers} transfers",
                self.entry.id, self.leg_count
            )
        });
        if let (EntryKind::Distribution { receivers, .. }, Some(steps)) = (&self.entry.kind, &self.steps) {
            findings.require(
                steps.is_complete(*receivers, self.unpaid_receivers),
                "steps of a distribution",
                || {
                    format!(
                        "journal entry {} has neither paid nor returned all points that it took",
                        self.entry.id
                    )
                },
            );
        }
        findings.require(
            self.unpaid_receivers.is_none() || matches!(self.entry.kind, EntryKind::Distribution { .. }),
            "in progress",
            || format!("journal entry {} is in progress but is not a distribution", self.entry.id),
        );
        if let Some(rounding) = self.rounding {
            findings.require(self.rounding_matches(&rounding), "rounding", || {
                format!("{} covers a shortfall of {} nano-dollars", self.leg_name(0), rounding.amount)
            });
        }
    }

    fn parties_match(&self, transfer: &StoredTransfer) -> bool {
        let is_payer = self.payers.iter().any(|payer| transfer.debit.is_account(*payer));
        let receiver = match &self.entry.kind {
            EntryKind::Override { .. } => {
                return is_payer
                    && transfer.debit != transfer.credit
                    && self.payers.iter().any(|other| transfer.credit.is_account(*other));
            }
            EntryKind::Distribution { wallet, .. } => {
                return is_payer && transfer.credit.kind == wallet.account_kind().code();
            }
            EntryKind::Recognition(_) if self.payer.is_some_and(|payer| payer != transfer.debit) => {
                return false;
            }
            EntryKind::Recognition(_) => self.receiver,
            _ => self.redemption.and_then(|redemption| match redemption.kind {
                EntryKind::Redemption { user, .. } => Some(user),
                _ => None,
            }),
        };
        is_payer
            && self
                .entry
                .credited_account(receiver)
                .is_some_and(|account| transfer.credit.is_account(account))
    }

    fn price_matches(&self, transfer: &StoredTransfer) -> bool {
        let matches_rate =
            self.entry.rate.shown_points(Amount::from_nanodollars(transfer.amount)).get() == transfer.points;
        match &self.entry.kind {
            EntryKind::UserDeletion { .. } => matches_rate,
            // The journal does not record the balance before the override. The balance after it is checked
            // with the wallet.
            EntryKind::Override { .. } => transfer.points >= 1,
            kind => {
                let is_refund = matches!(kind, EntryKind::Refund { .. });
                self.price.is_some_and(|price| price.each.nanodollars() == transfer.amount)
                    && transfer.points == self.entry.points_per_receiver().get()
                    && (matches_rate || !is_refund)
            }
        }
    }

    fn rounding_matches(&self, transfer: &StoredTransfer) -> bool {
        let price = match &self.entry.kind {
            EntryKind::Recognition(_)
            | EntryKind::Distribution { .. }
            | EntryKind::Redemption { .. }
            | EntryKind::Withdrawal { .. } => self.price,
            EntryKind::Override { .. } => self.first_amount.and_then(|nanodollars| {
                Price::for_exact_amount(self.entry.rate, Amount::from_nanodollars(nanodollars), Points::ZERO)
            }),
            _ => None,
        };
        let amount_max =
            price.and_then(|price| price.total.checked_sub(price.threshold)).map(Amount::nanodollars);
        transfer.debit.is_account(Account::Rounding(self.entry.company_id))
            && self.payer == Some(transfer.credit)
            && transfer.reason == Reason::Rounding.code()
            && transfer.points == 0
            && transfer.amount >= 1
            && amount_max.is_some_and(|amount_max| transfer.amount <= amount_max)
    }
}
