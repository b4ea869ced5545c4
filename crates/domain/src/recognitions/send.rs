//! Sending a recognition (behaviour 15).

use super::Receivers;
use super::tell::{Told, tell};
use crate::model::{
    Act, Cause, Company, Event, Occasion, Person, Recognition, RecognitionEvent, Sender, Sending,
};
use crate::money::{Points, PointsRange, points_range, price};
use crate::ports::{
    Accounts, Causes, Context, Denied, Expected, Locks, Lookup, MailOutbox, Moved, Outbox, Outcome, Payment,
    ReadCompanies, ReadOccasions, ReadProviders, ReadUsers, Recognitions, StoreError,
};
use crate::reserve;
use crate::values::{CompanyId, Message, OccasionId, ProviderId, RecognitionId, UserId, fit};
use crate::wallets::{Account, Reason, WalletType};

/// What the messages of one request may come to in all: receivers times bytes.
const MESSAGES_BYTES_MAX: usize = 8 << 20;

/// What is to be sent.
#[derive(Debug, Clone)]
pub struct SendRecognition {
    pub occasion_id: OccasionId,
    pub sender: Sender,
    pub receivers: Receivers,
    /// Points for each receiver; any integer, judged by the range.
    pub points_per_receiver: i64,
    /// What it says; none takes the occasion's default.
    pub message: Option<Message>,
    /// Whether it is public.
    pub share: bool,
}

impl SendRecognition {
    /// The most bytes that its message can come to, once for each receiver; where it takes the occasion's default
    /// nobody knows yet how long that is.
    pub fn message_bytes_max(&self) -> usize {
        let message = self.message.as_ref().map_or(Message::BYTES_MAX, |it| it.as_str().len());
        message.saturating_mul(self.receivers.ids().len()).min(MESSAGES_BYTES_MAX)
    }
}

/// A rule that a recognition breaks (behaviour 14.3, 15.3, 15.4, 15.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendFault {
    /// The occasion belongs to another company than the sender.
    OccasionOfAnotherCompany,
    OccasionDisabled,
    SenderDeleted,
    SenderAmongReceivers,
    /// A receiver, the first of those, belongs to another company than the sender.
    ReceiverOfAnotherCompany(UserId),
    /// A receiver, the first of those, is deleted; none is named that was deleted at this very moment.
    ReceiverDeleted(Option<UserId>),
    /// The message, once for each receiver, is more than one request may send.
    TooLarge,
    PointsOutOfRange(PointsRange),
}

/// Why nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// A named object cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A receiver, the first of those, cannot be used.
    #[error("{1}: {0}")]
    Receiver(UserId, Denied),
    /// Rules are broken; all that are.
    #[error("the recognition breaks {} rules", .0.len())]
    Faults(Vec<SendFault>),
    /// No wallet of the sender covers the whole.
    #[error("Insufficient funds")]
    InsufficientFunds,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The people and things that a recognition joins.
pub(super) struct Parties {
    pub(super) company: Company,
    occasion: Occasion,
    /// The sending user; none where the company sends.
    sender: Option<Person>,
    receivers: Vec<Person>,
}

/// Sends one recognition to each receiver, all or none: the points move, an event for each is queued.
pub fn send<T>(
    tx: &mut T,
    scope: ProviderId,
    command: &SendRecognition,
    context: &Context<'_>,
) -> Result<Vec<Recognition>, SendError>
where
    T: Accounts
        + Causes
        + Locks
        + MailOutbox
        + Outbox
        + ReadCompanies
        + ReadOccasions
        + ReadProviders
        + ReadUsers
        + Recognitions
        + ?Sized,
{
    let (payer, receivers) = accounts_ahead(command);
    tx.line_up(&Expected { occasion: command.occasion_id, payer, receivers: &receivers })?;
    let parties = load(tx, scope, command)?;
    let (points, faults) = judge(&parties, command);
    let (Some(points), []) = (points, faults.as_slice()) else { return Err(SendError::Faults(faults)) };
    let cause = context.cause(&parties.company, Act::Sending(sending(&parties, command, points)));
    tx.record(&cause)?;
    let recognitions = compose(&parties, command, points, &cause, context);
    tx.insert_recognitions(cause.id, &recognitions)?;
    let told = Told {
        cause: &cause,
        provider: scope,
        company: &parties.company,
        sender: parties.sender.as_ref(),
        occasion_name: parties.occasion.text.name.as_str(),
    };
    tell(tx, received, &told, &recognitions, &parties.receivers, context)?;
    pay(tx, &parties, points, &cause, context)?;
    Ok(recognitions)
}

/// The accounts that the command alone tells of: who pays, and who is paid.
fn accounts_ahead(command: &SendRecognition) -> (Account, Vec<Account>) {
    let payer = match command.sender {
        Sender::User(id) => Account::Wallet(WalletType::Peer, id),
        Sender::Company(id) => Account::Reserve(id),
    };
    let wallet = |id: &UserId| Account::Wallet(WalletType::User, *id);
    (payer, command.receivers.ids().iter().map(wallet).collect())
}

pub(super) fn load<T>(tx: &mut T, scope: ProviderId, command: &SendRecognition) -> Result<Parties, SendError>
where
    T: Locks + ReadCompanies + ReadOccasions + ReadUsers + ?Sized,
{
    let occasion = tx.occasion(scope, command.occasion_id)?.named("occasion_id")?;
    let (sender, company_id) = match command.sender {
        Sender::Company(id) => (None, id),
        Sender::User(id) => {
            let found = tx.people(scope, &[id])?.pop();
            let person = found.ok_or(Denied::Absent("sender_id"))?.named("sender_id")?;
            let company_id = person.company_id;
            (Some(person), company_id)
        }
    };
    tx.keep_provider(company_id)?;
    let company = tx.company(scope, company_id)?.named("sender_id")?.company;
    let found = tx.people(scope, command.receivers.ids())?;
    let receivers = command.receivers.ids().iter().zip(found);
    let named = |(id, it): (&UserId, Lookup<Person>)| {
        it.named("receiver_ids").map_err(|denied| SendError::Receiver(*id, denied))
    };
    let receivers = receivers.map(named).collect::<Result<Vec<_>, _>>()?;
    Ok(Parties { company, occasion, sender, receivers })
}

/// The points where they are in range, and every rule that is broken.
fn judge(parties: &Parties, command: &SendRecognition) -> (Option<Points>, Vec<SendFault>) {
    let company_id = parties.company.id;
    let sender_id = parties.sender.as_ref().map(|it| it.id);
    let range = points_range(parties.company.rate, parties.company.allow_zero_points);
    let points = Points::new(command.points_per_receiver).filter(|it| range.contains(*it));
    let receivers = &parties.receivers;
    let broken = |is: bool, fault: SendFault| is.then_some(fault);
    let first = |is: &dyn Fn(&Person) -> bool| receivers.iter().find(|it| is(it)).map(|it| it.id);
    let faults = [
        broken(of_another(&parties.occasion, company_id), SendFault::OccasionOfAnotherCompany),
        broken(!parties.occasion.enabled, SendFault::OccasionDisabled),
        broken(parties.sender.as_ref().is_some_and(|it| !it.active), SendFault::SenderDeleted),
        broken(receivers.iter().any(|it| Some(it.id) == sender_id), SendFault::SenderAmongReceivers),
        first(&|it| it.company_id != company_id).map(SendFault::ReceiverOfAnotherCompany),
        first(&|it| !it.active).map(|it| SendFault::ReceiverDeleted(Some(it))),
        broken(bytes(parties, command) > MESSAGES_BYTES_MAX, SendFault::TooLarge),
        broken(points.is_none(), SendFault::PointsOutOfRange(range)),
    ];
    (points, faults.into_iter().flatten().collect())
}

fn of_another(occasion: &Occasion, company: CompanyId) -> bool {
    occasion.company_id.is_some_and(|it| it != company)
}

fn message<'a>(parties: &'a Parties, command: &'a SendRecognition) -> &'a Message {
    command.message.as_ref().unwrap_or(&parties.occasion.text.default_message)
}

fn bytes(parties: &Parties, command: &SendRecognition) -> usize {
    message(parties, command).as_str().len().saturating_mul(parties.receivers.len())
}

fn sending(parties: &Parties, command: &SendRecognition, points: Points) -> Sending {
    Sending {
        sender: command.sender,
        occasion_id: parties.occasion.id,
        points,
        receivers: fit(parties.receivers.len()),
        message: message(parties, command).clone(),
        share: command.share,
    }
}

fn compose(
    parties: &Parties,
    command: &SendRecognition,
    points: Points,
    cause: &Cause,
    context: &Context<'_>,
) -> Vec<Recognition> {
    let message = message(parties, command);
    let one = |receiver: &Person| Recognition {
        id: RecognitionId::from_uuid(context.ids.next()),
        receiver_id: receiver.id,
        sender: command.sender,
        message: message.clone(),
        points,
        share: command.share,
        occasion_id: parties.occasion.id,
        company_id: parties.company.id,
        created_at: cause.created_at,
    };
    parties.receivers.iter().map(one).collect()
}

fn pay<T: Accounts + MailOutbox + ReadUsers + ?Sized>(
    tx: &mut T,
    parties: &Parties,
    points: Points,
    cause: &Cause,
    context: &Context<'_>,
) -> Result<(), SendError> {
    let company = &parties.company;
    let receivers = fit(parties.receivers.len());
    let price = price(company.rate, points, receivers).ok_or(SendError::InsufficientFunds)?;
    let wallet = |it: &Person| Account::Wallet(WalletType::User, it.id);
    let credits: Vec<Account> = parties.receivers.iter().map(wallet).collect();
    let payment = Payment {
        company: company.id,
        cause: cause.id,
        reason: Reason::Recognition,
        rate: company.rate,
        moved: Moved::Price { payers: &payers(parties), credits: &credits, price, points },
        at: cause.created_at,
    };
    match tx.pay(&payment)? {
        Outcome::Paid(paid) => Ok(reserve::alert_if_low(tx, company, paid.low, context)?),
        Outcome::Insufficient => Err(SendError::InsufficientFunds),
        Outcome::Closed => Err(SendError::Faults(vec![SendFault::ReceiverDeleted(None)])),
    }
}

/// Who may pay, in order (behaviour 15.2): the reserve for a company; the peer wallet, then a manager's, for a user.
pub(super) fn payers(parties: &Parties) -> Vec<Account> {
    match &parties.sender {
        None => vec![Account::Reserve(parties.company.id)],
        Some(person) => {
            let mut wallets = vec![Account::Wallet(WalletType::Peer, person.id)];
            if person.manager {
                wallets.push(Account::Wallet(WalletType::Manager, person.id));
            }
            wallets
        }
    }
}

fn received(event: RecognitionEvent<'_>) -> Event<'_> {
    Event::RecognitionReceived(event)
}
