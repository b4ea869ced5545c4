//! Sending a recognition (behaviour 15): one sender gives the same points and message to up to 10,000
//! receivers, all or none.
//!
//! The decision checks all rules and reports every violation. A user pays from the peer wallet, or from the
//! manager wallet if the peer wallet does not cover the total; a company pays from its reserve.

use std::collections::BTreeSet;

use super::Receivers;
use super::events::{EventContext, build_events};
use crate::decide::{Decide, DecideError, DecisionState};
use crate::ledger::{
    AccountBook, CompanyFacts, Facts, LedgerError, Needs, Payment, PaymentKind, PaymentOutcome,
    ThresholdCrossing,
};
use crate::model::{
    EntryKind, Event, JournalEntry, Occasion, Recognition, RecognitionEvent, Sender, SentRecognition,
    UserSummary,
};
use crate::money::{Points, PointsRange, points_range};
use crate::ports::{Context, Denied, DeniedReference, StoreError};
use crate::reserve;
use crate::values::{CompanyId, Message, OccasionId, ProviderId, RecognitionId, UserId, checked_cast};
use crate::wallets::{Account, WalletType};

/// The maximum size in bytes of the message times the number of receivers.
const MESSAGES_BYTES_MAX: usize = 8 << 20;

/// The recognition to send.
#[derive(Debug, Clone)]
pub struct SendRecognition {
    pub occasion_id: OccasionId,
    pub sender: Sender,
    pub receivers: Receivers,
    /// Points for each receiver. May be any integer: the decision checks the range.
    pub points_per_receiver: i64,
    /// Its message; `None` uses the occasion's default.
    pub message: Option<Message>,
    /// Whether it is public.
    pub share: bool,
}

impl SendRecognition {
    /// The size in bytes of the message times the number of receivers, at most `MESSAGES_BYTES_MAX`. If there is no
    /// message, the maximum length of a message is assumed, because the occasion's default message is not known yet.
    pub fn message_bytes_max(&self) -> usize {
        let message = self.message.as_ref().map_or(Message::BYTES_MAX, |message| message.as_str().len());
        message.saturating_mul(self.receivers.ids().len()).min(MESSAGES_BYTES_MAX)
    }
}

/// A rule that a recognition violates (behaviour 14.3, 15.3, 15.4, 15.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendFault {
    /// The occasion belongs to a different company than the sender.
    OccasionOfAnotherCompany,
    OccasionDisabled,
    SenderDeleted,
    SenderAmongReceivers,
    /// At least one receiver belongs to a different company than the sender; contains the first of these receivers.
    ReceiverOfAnotherCompany(UserId),
    /// At least one receiver is deleted; contains the first of these receivers, or `None` if a receiver was deleted
    /// after the receivers were read.
    ReceiverDeleted(Option<UserId>),
    /// The size of the message times the number of receivers exceeds the maximum for one request.
    TooLarge,
    PointsOutOfRange(PointsRange),
}

/// Why nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// A referenced object cannot be used.
    #[error(transparent)]
    Denied(#[from] DeniedReference),
    /// The first receiver that cannot be used.
    #[error("{1}: {0}")]
    Receiver(UserId, Denied),
    /// All rules that are violated.
    #[error("the recognition violates {} rules", .0.len())]
    Faults(Vec<SendFault>),
    /// No wallet of the sender covers the total.
    #[error("Insufficient funds")]
    InsufficientFunds,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The users, company and occasion of a recognition.
struct Parties<'a> {
    company: &'a CompanyFacts,
    occasion: &'a Occasion,
    /// The sending user; `None` if the company sends.
    sender: Option<&'a UserSummary>,
    receivers: Vec<&'a UserSummary>,
}

impl SendRecognition {
    /// The account that pays if it covers the price.
    pub(super) fn first_payer(&self) -> Account {
        match self.sender {
            Sender::User(id) => Account::Wallet(WalletType::Peer, id),
            Sender::Company(id) => Account::Reserve(id),
        }
    }
}

/// Sends one recognition to each receiver, all or none: moves the points, and queues an event for each
/// recognition.
impl Decide for SendRecognition {
    type Done = Vec<Recognition>;
    type Refusal = SendError;

    fn initial_needs(&self) -> Needs {
        let mut needs = Needs { occasions: BTreeSet::from([self.occasion_id]), ..Needs::default() };
        match self.sender {
            Sender::User(id) => needs.users.insert(id),
            Sender::Company(id) => needs.companies.insert(id),
        };
        needs.accounts.insert(self.first_payer());
        for receiver in self.receivers.ids() {
            needs.users.insert(*receiver);
            needs.accounts.insert(Account::Wallet(WalletType::User, *receiver));
        }
        needs
    }

    /// These are needed only in some cases: a manager's wallet if the peer wallet does not cover the price, the
    /// rounding account if the payer is short of a fraction of a point, the administrators if the reserve falls below
    /// its alert threshold.
    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        let mut needs = Needs::default();
        let company = match self.sender {
            Sender::Company(id) => Some(id),
            Sender::User(id) => {
                let sender = facts.find_user(id)?;
                if sender.is_some_and(|sender| sender.manager) {
                    needs.accounts.insert(Account::Wallet(WalletType::Manager, id));
                }
                sender.map(|sender| sender.company_id)
            }
        };
        needs.accounts.extend(company.map(Account::Rounding));
        needs.administrators.extend(company);
        Ok(needs)
    }

    fn affected_count(&self) -> usize {
        self.receivers.ids().len()
    }

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<Self::Done, DecideError<SendError>> {
        let scope = state.scope;
        let DecisionState { facts, book, changes, context, .. } = state;
        let parties = find_parties(scope, self, facts)?;
        let (points, faults) = check_rules(&parties, self);
        let (Some(points), []) = (points, faults.as_slice()) else {
            return Err(DecideError::Refused(SendError::Faults(faults)));
        };
        let company = &parties.company.company;
        let entry = context
            .new_journal_entry(company, EntryKind::Recognition(new_sent_recognition(&parties, self, points)));
        let threshold_crossing = pay_receivers(&parties, &entry, book)?;
        reserve::queue_alert_on_crossing(company, threshold_crossing, facts, changes, context)?;
        let recognitions = new_recognitions(&parties, self, points, &entry, context);
        let event_context = EventContext {
            entry: &entry,
            company,
            has_callback: parties.company.has_callback,
            sender: parties.sender,
            occasion_name: parties.occasion.text.name.as_str(),
        };
        let receivers = parties.receivers.iter().copied();
        let events =
            build_events(received_event, &event_context, recognitions.iter().zip(receivers), context);
        changes.events.extend(events.map_err(|cause| DecideError::Refused(StoreError::from(cause).into()))?);
        changes
            .recognitions
            .extend((1..).zip(&recognitions).map(|(leg, recognition)| (entry.id, leg, recognition.clone())));
        changes.journal_entries.push(entry);
        Ok(recognitions)
    }
}

fn find_parties<'a>(
    scope: ProviderId,
    command: &SendRecognition,
    facts: &'a Facts,
) -> Result<Parties<'a>, DecideError<SendError>> {
    let denied = |error: DeniedReference| DecideError::Refused(error.into());
    let occasion_id = command.occasion_id;
    let occasion = facts
        .find_own_occasion(scope, occasion_id)?
        .or_denied_reference("occasion_id", occasion_id.as_uuid())
        .map_err(denied)?;
    let (sender, company_id) = match command.sender {
        Sender::Company(id) => (None, id),
        Sender::User(id) => {
            let sender = facts
                .find_own_user(scope, id)?
                .or_denied_reference("sender_id", id.as_uuid())
                .map_err(denied)?;
            (Some(sender), sender.company_id)
        }
    };
    let company = facts
        .find_own_company(scope, company_id)?
        .or_denied_reference("sender_id", company_id.as_uuid())
        .map_err(denied)?;
    let mut receivers = Vec::with_capacity(command.receivers.ids().len());
    for id in command.receivers.ids() {
        let receiver = facts.find_own_user(scope, *id)?.or_denied("receiver_ids");
        receivers.push(receiver.map_err(|error| DecideError::Refused(SendError::Receiver(*id, error)))?);
    }
    Ok(Parties { company, occasion, sender, receivers })
}

/// Returns the points, if they are in range, and all violated rules.
fn check_rules(parties: &Parties<'_>, command: &SendRecognition) -> (Option<Points>, Vec<SendFault>) {
    let company = &parties.company.company;
    let company_id = company.id;
    let sender_id = parties.sender.map(|sender| sender.id);
    let range = points_range(company.rate, company.allow_zero_points);
    let points = Points::new(command.points_per_receiver).filter(|points| range.contains(*points));
    let receivers = &parties.receivers;
    let fault_if = |is_broken: bool, fault: SendFault| is_broken.then_some(fault);
    let first_receiver = |is_match: &dyn Fn(&UserSummary) -> bool| {
        receivers.iter().find(|receiver| is_match(receiver)).map(|receiver| receiver.id)
    };
    let faults = [
        fault_if(is_of_another_company(parties.occasion, company_id), SendFault::OccasionOfAnotherCompany),
        fault_if(!parties.occasion.enabled, SendFault::OccasionDisabled),
        fault_if(parties.sender.is_some_and(|sender| !sender.active), SendFault::SenderDeleted),
        fault_if(
            receivers.iter().any(|receiver| Some(receiver.id) == sender_id),
            SendFault::SenderAmongReceivers,
        ),
        first_receiver(&|receiver| receiver.company_id != company_id)
            .map(SendFault::ReceiverOfAnotherCompany),
        first_receiver(&|receiver| !receiver.active).map(|id| SendFault::ReceiverDeleted(Some(id))),
        fault_if(total_message_bytes(parties, command) > MESSAGES_BYTES_MAX, SendFault::TooLarge),
        fault_if(points.is_none(), SendFault::PointsOutOfRange(range)),
    ];
    (points, faults.into_iter().flatten().collect())
}

fn is_of_another_company(occasion: &Occasion, company: CompanyId) -> bool {
    occasion.company_id.is_some_and(|company_id| company_id != company)
}

fn message_or_default<'a>(parties: &'a Parties<'_>, command: &'a SendRecognition) -> &'a Message {
    command.message.as_ref().unwrap_or(&parties.occasion.text.default_message)
}

fn total_message_bytes(parties: &Parties<'_>, command: &SendRecognition) -> usize {
    message_or_default(parties, command).as_str().len().saturating_mul(parties.receivers.len())
}

fn new_sent_recognition(parties: &Parties<'_>, command: &SendRecognition, points: Points) -> SentRecognition {
    SentRecognition {
        sender: command.sender,
        occasion_id: parties.occasion.id,
        points,
        receivers: checked_cast(parties.receivers.len()),
        message: message_or_default(parties, command).clone(),
        share: command.share,
    }
}

fn new_recognitions(
    parties: &Parties<'_>,
    command: &SendRecognition,
    points: Points,
    entry: &JournalEntry,
    context: &Context<'_>,
) -> Vec<Recognition> {
    let message = message_or_default(parties, command);
    let new_recognition = |receiver: &&UserSummary| Recognition {
        id: RecognitionId::from_uuid(context.ids.next_id()),
        receiver_id: receiver.id,
        sender: command.sender,
        message: message.clone(),
        points,
        share: command.share,
        occasion_id: parties.occasion.id,
        company_id: parties.company.company.id,
        created_at: entry.created_at,
    };
    parties.receivers.iter().map(new_recognition).collect()
}

/// Moves the points. Returns the crossing if the payment takes the reserve below its alert threshold.
fn pay_receivers(
    parties: &Parties<'_>,
    entry: &JournalEntry,
    book: &mut AccountBook,
) -> Result<Option<ThresholdCrossing>, DecideError<SendError>> {
    let insufficient = || DecideError::Refused(SendError::InsufficientFunds);
    let price = entry.price_per_receiver(None).ok_or_else(insufficient)?;
    let mut payers = entry.possible_payers();
    if parties.sender.is_some_and(|sender| !sender.manager) {
        payers.truncate(1);
    }
    let credits: Vec<Account> =
        parties.receivers.iter().filter_map(|receiver| entry.credited_account(Some(receiver.id))).collect();
    let points = entry.points_per_receiver();
    let payment_kind = PaymentKind::PricePerReceiver { payers: &payers, credits: &credits, price, points };
    match book.pay(&Payment::for_entry(entry, payment_kind)?)? {
        PaymentOutcome::Paid(paid) => Ok(paid.threshold_crossing),
        PaymentOutcome::InsufficientFunds => Err(insufficient()),
        PaymentOutcome::AccountClosed => {
            Err(DecideError::Refused(SendError::Faults(vec![SendFault::ReceiverDeleted(None)])))
        }
    }
}

fn received_event(event: RecognitionEvent<'_>) -> Event<'_> {
    Event::RecognitionReceived(event)
}

#[cfg(test)]
mod tests;
