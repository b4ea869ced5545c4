//! `guerdon distribution run`.

use std::ops::ControlFlow;

use guerdon_domain::commands::{Command, Done};
use guerdon_domain::companies::Company;
use guerdon_domain::distributions::{Recipients, RunDistribution};
use guerdon_domain::ports::{StoreError, StoreExt};
use guerdon_domain::scheduler::{DistributionStep, DistributionTurns, finish_distributions};
use guerdon_domain::values::UserId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::WalletName;
use crate::commands::arguments::identifiers::{
    CompanyArgument, check_id_or_email, find_user, normalize_id_or_email,
};
use crate::commands::arguments::payment::{PaymentArguments, execute_once, unexpected_outcome};
use crate::commands::arguments::points_argument::format_worth;
use crate::commands::output::{WithText, format_count};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView as _, RunnableCommand};

/// Distribute points from the reserve to users, all or nothing.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon distribution run acme.example --wallet peer_wallet --points 50 \
    --key november
  guerdon distribution run acme.example --wallet peer_wallet --points 50 \
    --user ann@acme.example")]
pub(crate) struct Run {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    /// The wallet that receives the points
    #[arg(long, value_enum)]
    wallet: WalletName,
    #[command(flatten)]
    #[serde(flatten)]
    payment: PaymentArguments,
    /// A user who receives points, by id or email; can be given several times. Default: every active user (for
    /// manager_wallet: every active manager)
    #[arg(long = "user", value_name = "USER", value_parser = check_id_or_email)]
    users: Vec<String>,
}

/// The result of a distribution.
#[derive(Serialize)]
struct DistributionView {
    company_id: Uuid,
    users: usize,
    points: i64,
}

impl RunnableCommand for Run {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company_id.find_company(environment)?;
        let id = company.id;
        let named: Vec<String> = self.users.iter().map(|user| normalize_id_or_email(user)).collect();
        let request = ("distribution run", id.as_uuid(), self.wallet, &self.payment.sum, &named);
        let output = match self.payment.key.find_output(environment, &request)? {
            Some(output) => output,
            None => self.distribute(environment, company, &request)?,
        };
        let CommandEnvironment { store, commands, .. } = environment;
        let is_unfinished = || store.read_snapshot(|reads| reads.has_unfinished_distribution(id));
        // This also follows a retry, because an earlier run with this key may have ended between two steps.
        if !is_unfinished().map_err(|cause| unfinished_error(&cause))? {
            return Ok(output);
        }
        // Distributions of other companies may take much longer; `serve` finishes them.
        let mut after_step = |step: DistributionStep| {
            if step.company != Some(id) {
                return ControlFlow::Continue(());
            }
            environment.progress.advance_by(step.paid.unwrap_or_default());
            let has_ended = step.paid.is_none() || matches!(is_unfinished(), Ok(false));
            if has_ended { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let finished = finish_distributions(
            store.as_ref(),
            commands,
            &mut DistributionTurns::default(),
            &mut after_step,
        );
        let failed = finished.map_err(|cause| unfinished_error(&cause))?;
        let own = failed.iter().find(|failure| failure.company == Some(id));
        own.map_or(Ok(output), |failure| Err(unfinished_error(&failure.reason)))
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

impl Run {
    /// Debits the reserve. Pays the users at once if they are at most 1,000; otherwise they are paid in later steps.
    fn distribute(
        &self,
        environment: &CommandEnvironment,
        company: Company,
        request: &impl Serialize,
    ) -> Result<CommandOutput, CommandError> {
        let (id, wallet) = (company.id, self.wallet.into());
        let users: Vec<UserId> =
            self.users.iter().map(|user| find_user(environment, id, user)).collect::<Result<_, _>>()?;
        let recipients = if users.is_empty() {
            environment.store.read_snapshot(|reads| Recipients::all_active(reads, id, wallet))?
        } else {
            Recipients::Named(users)
        };
        environment.progress.show_users(recipients.count());
        let sum = self.payment.sum.to_sum()?;
        let run = RunDistribution { company_id: id, wallet, sum, recipients, schedule: None };
        let (provider, command) = (company.provider_id, Command::RunDistribution(run));
        let domain = company.domain;
        execute_once(environment, provider, command, &self.payment.key, request, move |done| {
            let Done::Distributed(distributed) = done else { return Err(unexpected_outcome(done)) };
            let (reserve, rate) = (distributed.reserve, distributed.reserve.rate);
            let [each, before, now] =
                [reserve.points, reserve.before, reserve.after].map(|points| format_worth(points, rate));
            let users = format_count(distributed.users, "user", "users");
            let text =
                format!("{users} of {domain} received {each} each; the reserve held {before}, now {now}");
            let points = reserve.points.get();
            WithText {
                fields: DistributionView { company_id: id.as_uuid(), users: distributed.users, points },
                text,
            }
            .to_output()
        })
    }
}

/// The error if the distribution is committed, but some receivers may not have their points yet.
fn unfinished_error(cause: &StoreError) -> CommandError {
    CommandError::Failed(format!(
        "the distribution was charged to the reserve, but perhaps not every user has been paid yet \
         ({cause}). A running `guerdon serve` completes it within seconds; `guerdon status` shows the \
         points in transit. Retry only with the same --key."
    ))
}
