//! `guerdon reserve`.

use guerdon_domain::commands::{Command, Done};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::reserve::{ChangeReserve, ReserveChange, ReserveError, shown};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::names::CompanyName;
use crate::commands::arguments::order::{PointsOrder, carry_out, unexpected_outcome};
use crate::commands::arguments::sum::format_worth;
use crate::commands::error::refusals;
use crate::commands::group::command_group;
use crate::commands::output::WithText;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View as _};

command_group! {
    enum ReserveCommand {
        /// Show a company's reserve.
        Show(Show),
        /// Deposit points into a company's reserve.
        Deposit(Deposit),
        /// Withdraw points from a company's reserve.
        Withdraw(Withdraw),
    }
}

/// Show a company's reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon reserve show acme.example
  guerdon --output json reserve show acme.example")]
pub(crate) struct Show {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
}

/// Deposit points into a company's reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon reserve deposit acme.example --points 100000 --key invoice-117
  guerdon reserve deposit acme.example --dollars 2000")]
pub(crate) struct Deposit {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    #[command(flatten)]
    #[serde(flatten)]
    order: PointsOrder,
}

/// Withdraw points from a company's reserve, back to the account that deposits come from.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon reserve withdraw acme.example --points 500 --key correction-11
  guerdon reserve withdraw acme.example --dollars 10")]
pub(crate) struct Withdraw {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    #[command(flatten)]
    #[serde(flatten)]
    order: PointsOrder,
}

/// A company's reserve.
#[derive(Serialize)]
struct Reserve {
    company_id: Uuid,
    points: i64,
}

impl Runnable for Show {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let company = self.company_id.load(environment)?;
        let id = company.id;
        let points = environment.store.snapshot(|reads| -> Result<_, ReserveError> { shown(reads, id) })?;
        let text = format_worth(points, company.rate);
        WithText { fields: Reserve { company_id: id.as_uuid(), points: points.get() }, text }.output()
    }

    fn is_reading(&self) -> bool {
        true
    }
}

/// Deposits or withdraws points, at most once per key.
fn change_reserve(
    environment: &CommandEnvironment,
    (company, order): (&CompanyName, &PointsOrder),
    change: ReserveChange,
) -> Result<Output, CommandError> {
    let company = company.load(environment)?;
    let (id, domain) = (company.id, company.domain);
    let (name, verb) = match change {
        ReserveChange::Deposit => ("reserve deposit", "put into"),
        ReserveChange::Withdrawal => ("reserve withdraw", "taken out of"),
    };
    let request = (name, id.as_uuid(), &order.sum);
    let command = Command::ChangeReserve(ChangeReserve { company_id: id, change, sum: order.sum.read()? });
    carry_out(environment, (company.provider_id, command), &order.key, &request, move |done| {
        let Done::ReserveChanged(change) = done else { return Err(unexpected_outcome(&done)) };
        let [moved, before, after] =
            [change.points, change.before, change.after].map(|points| format_worth(points, change.rate));
        let text = format!("{moved} {verb} the reserve of {domain}: before {before}, now {after}");
        WithText { fields: Reserve { company_id: id.as_uuid(), points: change.after.get() }, text }.output()
    })
}

impl Runnable for Deposit {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        change_reserve(environment, (&self.company_id, &self.order), ReserveChange::Deposit)
    }
}

impl Runnable for Withdraw {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        change_reserve(environment, (&self.company_id, &self.order), ReserveChange::Withdrawal)
    }
}

refusals!(ReserveError);
