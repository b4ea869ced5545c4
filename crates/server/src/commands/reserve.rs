//! `guerdon reserve`.

use guerdon_domain::commands::{Command, Done};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::reserve::{ChangeReserve, ReserveChange, ReserveError, shown};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, carry_out, unexpected};
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
        let points = workplace.store.snapshot(|reads| -> Result<_, ReserveError> { shown(reads, id) })?;
        let text = worth(points, company.rate);
        Told { fields: Reserve { company_id: id.as_uuid(), points: points.get() }, text }.output()
    }

    fn is_reading(&self) -> bool {
        true
    }
}

/// Moves points in or out, once for its key.
fn change(
    workplace: &Workplace,
    (company, sum, key): (&CompanyName, &Sum, &Keyed),
    change: ReserveChange,
) -> Result<Output, CommandError> {
    let company = company.company(workplace)?;
    let (id, domain) = (company.id, company.domain);
    let (name, verb) = match change {
        ReserveChange::Deposit => ("reserve deposit", "put into"),
        ReserveChange::Withdrawal => ("reserve withdraw", "taken out of"),
    };
    let what = (name, id.as_uuid(), sum);
    let command = Command::ChangeReserve(ChangeReserve { company_id: id, change, sum: sum.read()? });
    carry_out(workplace, (company.provider_id, command), key, &what, move |done| {
        let Done::ReserveChanged(it) = done else { return Err(unexpected(&done)) };
        let [moved, before, after] = [it.points, it.before, it.after].map(|points| worth(points, it.rate));
        let text = format!("{moved} {verb} the reserve of {domain}: before {before}, now {after}");
        Told { fields: Reserve { company_id: id.as_uuid(), points: it.after.get() }, text }.output()
    })
}

impl Runnable for Deposit {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        change(workplace, (&self.company_id, &self.sum, &self.key), ReserveChange::Deposit)
    }
}

impl Runnable for Withdraw {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        change(workplace, (&self.company_id, &self.sum, &self.key), ReserveChange::Withdrawal)
    }
}

refusals!(ReserveError);
