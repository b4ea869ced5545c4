//! `guerdon reserve`.

use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::{Context, StoreExt, Tx};
use guerdon_domain::reserve::{DepositError, WithdrawError, deposit, shown, withdraw};
use guerdon_domain::values::CompanyId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, once};
use super::named::CompanyName;
use super::output::Told;
use super::sum::{Sum, worth};
use super::{CommandError, Output, Runnable, View as _, Workplace};

/// Shows a company's reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Show {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
}

/// Puts points into a company's reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Deposit {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    #[command(flatten)]
    #[serde(flatten)]
    sum: Sum,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// Takes points out of a company's reserve, to where deposits come from.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Withdraw {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    #[command(flatten)]
    #[serde(flatten)]
    sum: Sum,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// A company's reserve.
#[derive(Serialize)]
struct Reserve {
    company_id: Uuid,
    points: i64,
}

impl Runnable for Show {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let company = self.company_id.company(workplace)?;
        let id = company.id;
        let points = workplace.store.snapshot(|reads| -> Result<_, DepositError> { shown(reads, id) })?;
        let text = worth(points, company.rate);
        Told { fields: Reserve { company_id: id.as_uuid(), points: points.get() }, text }.output()
    }

    fn is_reading(&self) -> bool {
        true
    }
}

/// What happened to a reserve, in one line.
struct Change<'a> {
    verb: &'a str,
    domain: &'a str,
    rate: PointsPerDollar,
    points: Points,
    before: Points,
    after: Points,
}

impl Change<'_> {
    fn told(&self, id: CompanyId) -> Told<Reserve> {
        let Self { verb, domain, rate, .. } = *self;
        let [moved, before, after] = [self.points, self.before, self.after].map(|it| worth(it, rate));
        let text = format!("{moved} {verb} the reserve of {domain}: before {before}, now {after}");
        Told { fields: Reserve { company_id: id.as_uuid(), points: self.after.get() }, text }
    }
}

/// Moves points in or out, once for its key.
fn change<E>(
    workplace: &Workplace,
    (company, sum, key): (&CompanyName, &Sum, &Keyed),
    (name, verb): (&str, &str),
    work: impl Fn(&mut dyn Tx, CompanyId, Points, &Context<'_>) -> Result<Points, E>,
) -> Result<Output, CommandError>
where
    CommandError: From<E>,
{
    let company = company.company(workplace)?;
    let what = (name, company.id.as_uuid(), sum);
    once(workplace, key, &what, |tx, context| {
        let (points, rate) = sum.at_rate_of(tx, company.id)?;
        let before = shown(tx, company.id)?;
        let after = work(tx, company.id, points, context)?;
        let domain = company.domain.as_str();
        Ok(Change { verb, domain, rate, points, before, after }.told(company.id))
    })
}

impl Runnable for Deposit {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let asked = (&self.company_id, &self.sum, &self.key);
        change(workplace, asked, ("reserve deposit", "put into"), |tx, id, points, context| {
            deposit(tx, id, points, context)
        })
    }
}

impl Runnable for Withdraw {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let asked = (&self.company_id, &self.sum, &self.key);
        change(workplace, asked, ("reserve withdraw", "taken out of"), |tx, id, points, context| {
            withdraw(tx, id, points, context)
        })
    }
}

refusals!(DepositError, WithdrawError);
