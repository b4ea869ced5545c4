//! Running a distribution, all or nothing.

use std::collections::BTreeSet;

use super::DistributeError;
use super::steps;
use crate::look_up;
use crate::model::{Act, Company, Person, ScheduledDate};
use crate::money::{Points, price};
use crate::ports::{
    Accounts, Causes, Context, Locks, Lookup, MailOutbox, Moved, Outcome, Payment, ReadCompanies, ReadSteps,
    ReadUsers, Steps,
};
use crate::reserve;
use crate::values::{CompanyId, ProviderId, UserId};
use crate::wallets::{Account, Reason, WalletType};

/// What is to be distributed.
#[derive(Debug, Clone)]
pub struct RunDistribution {
    /// Whose reserve pays.
    pub company_id: CompanyId,
    pub wallet: WalletType,
    /// Points for each user.
    pub points: Points,
    /// To whom; empty for every active user, or for a manager wallet every active manager.
    pub users: Vec<UserId>,
    /// For which date of which schedule; none where an operator runs it.
    pub date: Option<ScheduledDate>,
}

/// What was distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distribution {
    /// How many users received.
    pub users: usize,
    /// Points each.
    pub points: Points,
}

/// Distributes points from the reserve to every receiver, all or nothing.
///
/// A distribution that would keep other writers waiting is done in several steps, and this is the first: the caller
/// runs [`finish`](super::finish) after the commit.
pub fn run<T>(
    tx: &mut T,
    command: &RunDistribution,
    context: &Context<'_>,
) -> Result<Distribution, DistributeError>
where
    T: Accounts + Causes + Locks + MailOutbox + ReadCompanies + ReadUsers + Steps + ?Sized,
{
    run_with(tx, command, None, context)
}

/// The same, with every active user or manager [read ahead](super::read_ahead).
pub fn run_with<T>(
    tx: &mut T,
    command: &RunDistribution,
    ahead: Option<&[UserId]>,
    context: &Context<'_>,
) -> Result<Distribution, DistributeError>
where
    T: Accounts + Causes + Locks + MailOutbox + ReadCompanies + ReadUsers + Steps + ?Sized,
{
    let id = command.company_id;
    let company = look_up::kept_company(tx, id)?.ok_or(DistributeError::NoSuchCompany)?;
    let receivers = receivers(tx, company.provider_id, command, ahead)?;
    if receivers.is_empty() {
        return Err(DistributeError::Nobody);
    }
    let in_steps = tx.blocks_others() && receivers.len() > steps::AT_ONCE;
    pay(tx, &company, command, &receivers, in_steps, context)?;
    Ok(Distribution { users: receivers.len(), points: command.points })
}

fn receivers<T: ReadSteps + ReadUsers + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    command: &RunDistribution,
    ahead: Option<&[UserId]>,
) -> Result<Vec<UserId>, DistributeError> {
    let managers_only = command.wallet == WalletType::Manager;
    if command.users.is_empty() {
        let ahead = ahead.filter(|it| tx.blocks_others() && it.len() > steps::AT_ONCE);
        return match ahead {
            Some(ahead) => Ok(ahead.to_vec()),
            None => Ok(tx.active_users(command.company_id, managers_only)?),
        };
    }
    if command.users.iter().collect::<BTreeSet<_>>().len() < command.users.len() {
        return Err(DistributeError::Duplicate);
    }
    let found = tx.people(scope, &command.users)?;
    for (id, found) in command.users.iter().zip(found) {
        match found {
            Lookup::Own(Person { active: true, company_id, manager, .. })
                if company_id == command.company_id =>
            {
                if managers_only && !manager {
                    return Err(DistributeError::NotAManager(*id));
                }
            }
            Lookup::Own(_) | Lookup::Absent | Lookup::Foreign => {
                return Err(DistributeError::NoSuchUser(*id));
            }
        }
    }
    Ok(command.users.clone())
}

fn pay<T>(
    tx: &mut T,
    company: &Company,
    command: &RunDistribution,
    receivers: &[UserId],
    in_steps: bool,
    context: &Context<'_>,
) -> Result<(), DistributeError>
where
    T: Accounts + Causes + Locks + MailOutbox + ReadUsers + Steps + ?Sized,
{
    let count = u32::try_from(receivers.len()).map_err(|_too_many| DistributeError::OutOfRange)?;
    let price = price(company.rate, command.points, count.into()).ok_or(DistributeError::OutOfRange)?;
    if command.points == Points::ZERO {
        return Err(DistributeError::OutOfRange);
    }
    let (wallet, points, date) = (command.wallet, command.points, command.date);
    let cause = context.cause(company, Act::Distribution { wallet, points, receivers: count, date });
    if !tx.record(&cause)? {
        return Err(DistributeError::AlreadyPaid);
    }
    if in_steps {
        return steps::begin(tx, company, &cause, price, receivers, context);
    }
    let credits: Vec<Account> = receivers.iter().map(|user| Account::Wallet(wallet, *user)).collect();
    let payment = Payment {
        company: company.id,
        cause: cause.id,
        reason: Reason::PointDistribution,
        rate: company.rate,
        moved: Moved::Price { payers: &[Account::Reserve(company.id)], credits: &credits, price, points },
        at: cause.created_at,
    };
    match tx.pay(&payment)? {
        Outcome::Paid(paid) => Ok(reserve::queue_alert(tx, company, paid.low, context)?),
        Outcome::Insufficient => Err(DistributeError::InsufficientFunds),
        Outcome::Closed => Err(tx.lost_race().into()), // a user was deleted meanwhile: worth another try
    }
}
