//! Sending a recognition (spec §4.4, contract §5).

use super::tell::{Told, tell};
use super::{Receivers, Recognition, Sender};
use crate::companies::Company;
use crate::money::{Points, PointsRange, points_range, price};
use crate::occasions::Occasion;
use crate::ports::{Context, Denied, EventKind, Outcome, Payment, StoreError, Tx};
use crate::reserve;
use crate::users::Person;
use crate::values::{CompanyId, Message, OccasionId, ProviderId, RecognitionId, TransferId};
use crate::wallets::{Account, Credit, Reason, WalletType};

/// What is to be sent.
#[derive(Debug, Clone)]
pub struct SendRecognition {
    /// For which occasion.
    pub occasion_id: OccasionId,
    /// By whom.
    pub sender: Sender,
    /// To whom.
    pub receivers: Receivers,
    /// Points for each receiver; any integer, judged by the range.
    pub points_per_receiver: i64,
    /// What it says; none takes the occasion's default.
    pub message: Option<Message>,
    /// Whether it is public.
    pub share: bool,
}

/// A rule that a recognition breaks (contract §5.5, §5.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendFault {
    /// The occasion belongs to another company than the sender.
    OccasionOfAnotherCompany,
    /// The occasion is disabled.
    OccasionDisabled,
    /// The sender was deleted.
    SenderDeleted,
    /// The sender is among the receivers.
    SenderAmongReceivers,
    /// A receiver belongs to another company than the sender.
    ReceiverOfAnotherCompany,
    /// A receiver was deleted.
    ReceiverDeleted,
    /// The points are out of the range.
    PointsOutOfRange(PointsRange),
}

/// Why nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// A named object cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Rules are broken; all that are.
    #[error("the recognition breaks {} rules", .0.len())]
    Faults(Vec<SendFault>),
    /// No wallet of the sender covers the whole.
    #[error("Insufficient funds")]
    InsufficientFunds,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The people and things that a recognition joins.
struct Parties {
    company: Company,
    occasion: Occasion,
    /// The sending user; none where the company sends.
    sender: Option<Person>,
    receivers: Vec<Person>,
}

/// Sends one recognition to each receiver, all or none: the points move, an event for each is queued.
pub fn send(
    tx: &mut dyn Tx,
    scope: ProviderId,
    command: &SendRecognition,
    context: &Context<'_>,
) -> Result<Vec<Recognition>, SendError> {
    let parties = load(tx, scope, command)?;
    let (points, faults) = judge(&parties, command);
    let (Some(points), []) = (points, faults.as_slice()) else { return Err(SendError::Faults(faults)) };
    let recognitions = compose(&parties, command, points, context);
    tx.insert_recognitions(&recognitions)?;
    let told = Told {
        provider: scope,
        company: &parties.company,
        sender: parties.sender.as_ref(),
        occasion_name: parties.occasion.text.name.as_str(),
    };
    tell(tx, EventKind::RecognitionReceived, &told, &recognitions, &parties.receivers, context)?;
    pay(tx, &parties, &recognitions, points, context)?;
    Ok(recognitions)
}

fn load(tx: &mut dyn Tx, scope: ProviderId, command: &SendRecognition) -> Result<Parties, SendError> {
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
    let company = tx.company(scope, company_id)?.named("sender_id")?.company;
    let found = tx.people(scope, command.receivers.ids())?;
    let receivers = found.into_iter().map(|it| it.named("receiver_ids")).collect::<Result<Vec<_>, _>>()?;
    Ok(Parties { company, occasion, sender, receivers })
}

/// The points where they are in range, and every rule that is broken.
fn judge(parties: &Parties, command: &SendRecognition) -> (Option<Points>, Vec<SendFault>) {
    let company_id = parties.company.id;
    let sender_id = parties.sender.as_ref().map(|it| it.id);
    let range = points_range(parties.company.rate, parties.company.allow_zero_points);
    let points = Points::new(command.points_per_receiver).filter(|it| range.contains(*it));
    let receivers = &parties.receivers;
    let checks = [
        (of_another(&parties.occasion, company_id), SendFault::OccasionOfAnotherCompany),
        (!parties.occasion.enabled, SendFault::OccasionDisabled),
        (parties.sender.as_ref().is_some_and(|it| !it.active), SendFault::SenderDeleted),
        (receivers.iter().any(|it| Some(it.id) == sender_id), SendFault::SenderAmongReceivers),
        (receivers.iter().any(|it| it.company_id != company_id), SendFault::ReceiverOfAnotherCompany),
        (receivers.iter().any(|it| !it.active), SendFault::ReceiverDeleted),
        (points.is_none(), SendFault::PointsOutOfRange(range)),
    ];
    (points, checks.into_iter().filter(|(broken, _)| *broken).map(|(_, fault)| fault).collect())
}

fn of_another(occasion: &Occasion, company: CompanyId) -> bool {
    occasion.company_id.is_some_and(|it| it != company)
}

fn compose(
    parties: &Parties,
    command: &SendRecognition,
    points: Points,
    context: &Context<'_>,
) -> Vec<Recognition> {
    let created_at = context.clock.now();
    let message = command.message.as_ref().unwrap_or(&parties.occasion.text.default_message);
    let one = |receiver: &Person| Recognition {
        id: RecognitionId::from_uuid(context.ids.next()),
        receiver_id: receiver.id,
        sender: command.sender,
        message: message.clone(),
        points,
        share: command.share,
        occasion_id: parties.occasion.id,
        company_id: parties.company.id,
        created_at,
    };
    parties.receivers.iter().map(one).collect()
}

fn pay(
    tx: &mut dyn Tx,
    parties: &Parties,
    recognitions: &[Recognition],
    points: Points,
    context: &Context<'_>,
) -> Result<(), SendError> {
    let company = &parties.company;
    let receivers = i64::try_from(recognitions.len()).unwrap_or(i64::MAX);
    let price = price(company.rate, points, receivers).ok_or(SendError::InsufficientFunds)?;
    let credits: Vec<Credit> = recognitions
        .iter()
        .map(|it| Credit {
            to: Account::Wallet(WalletType::User, it.receiver_id),
            transfer: TransferId::from_uuid(context.ids.next()),
            cause: Some(it.id.as_uuid()),
        })
        .collect();
    let payment = Payment {
        company: company.id,
        payers: &payers(parties),
        credits: &credits,
        price,
        points,
        rate: company.rate,
        reason: Reason::Recognition,
        counts_as_spent: true,
        rounding: TransferId::from_uuid(context.ids.next()),
        at: recognitions.first().map_or_else(|| context.clock.now(), |it| it.created_at),
    };
    match tx.post(&[payment])?.pop() {
        Some(Outcome::Paid { payer: Account::Reserve(_), before, after }) => {
            Ok(reserve::alert_after_payment(tx, company, before, after, context)?)
        }
        Some(Outcome::Paid { .. }) => Ok(()),
        Some(Outcome::Insufficient) | None => Err(SendError::InsufficientFunds),
        Some(Outcome::ReceiverClosed) => Err(SendError::Faults(vec![SendFault::ReceiverDeleted])),
    }
}

/// Who may pay, in order (contract §5.4): the reserve for a company; the peer wallet, then a manager's, for a user.
fn payers(parties: &Parties) -> Vec<Account> {
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
