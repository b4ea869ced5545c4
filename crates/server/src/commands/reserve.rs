//! `guerdon reserve`.

use guerdon_domain::commands::{Command, Done};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection, ReserveError, read_balance};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::CompanyArgument;
use crate::commands::arguments::payment::{PaymentArguments, execute_once, unexpected_outcome};
use crate::commands::arguments::points_argument::format_worth;
use crate::commands::error::impl_from_errors;
use crate::commands::group_macro::command_group;
use crate::commands::output::WithText;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView as _, RunnableCommand};

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
    company_id: CompanyArgument,
}

/// Which reserve to change, and by how much.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
struct ReserveChangeArguments {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    #[command(flatten)]
    #[serde(flatten)]
    payment: PaymentArguments,
}

/// Deposit points into a company's reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon reserve deposit acme.example --points 100000 --key invoice-117
  guerdon reserve deposit acme.example --dollars 2000")]
pub(crate) struct Deposit {
    #[command(flatten)]
    #[serde(flatten)]
    arguments: ReserveChangeArguments,
}

/// Withdraw points from a company's reserve. They return to the account that deposits come from.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon reserve withdraw acme.example --points 500 --key correction-11
  guerdon reserve withdraw acme.example --dollars 10")]
pub(crate) struct Withdraw {
    #[command(flatten)]
    #[serde(flatten)]
    arguments: ReserveChangeArguments,
}

/// A company's reserve.
#[derive(Serialize)]
struct ReserveView {
    company_id: Uuid,
    points: i64,
}

impl RunnableCommand for Show {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company_id.find_company(environment)?;
        let id = company.id;
        let points = environment.store.read_snapshot(|reads| read_balance(reads, id))?;
        let text = format_worth(points, company.rate);
        WithText { fields: ReserveView { company_id: id.as_uuid(), points: points.get() }, text }.to_output()
    }

    fn is_read_only(&self) -> bool {
        true
    }
}

/// Deposits or withdraws points, at most once per key.
fn change_reserve(
    environment: &CommandEnvironment,
    ReserveChangeArguments { company_id, payment }: &ReserveChangeArguments,
    direction: ReserveDirection,
) -> Result<CommandOutput, CommandError> {
    let company = company_id.find_company(environment)?;
    let (id, domain) = (company.id, company.domain);
    let (name, verb) = match direction {
        ReserveDirection::Deposit => ("reserve deposit", "deposited into"),
        ReserveDirection::Withdrawal => ("reserve withdraw", "withdrawn from"),
    };
    let request = (name, id.as_uuid(), &payment.sum);
    let command =
        Command::ChangeReserve(ChangeReserve { company_id: id, direction, sum: payment.sum.to_sum()? });
    execute_once(environment, company.provider_id, command, &payment.key, &request, move |done| {
        let Done::ReserveChanged(change) = done else { return Err(unexpected_outcome(done)) };
        let [moved, before, after] =
            [change.points, change.before, change.after].map(|points| format_worth(points, change.rate));
        let text = format!("{moved} {verb} the reserve of {domain}: before {before}, now {after}");
        WithText { fields: ReserveView { company_id: id.as_uuid(), points: change.after.get() }, text }
            .to_output()
    })
}

impl RunnableCommand for Deposit {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        change_reserve(environment, &self.arguments, ReserveDirection::Deposit)
    }
}

impl RunnableCommand for Withdraw {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        change_reserve(environment, &self.arguments, ReserveDirection::Withdrawal)
    }
}

impl_from_errors!(ReserveError);
