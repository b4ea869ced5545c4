//! `guerdon redemption`.

use guerdon_domain::commands::{Command, Done};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::redemptions::{self, Redeem, RefundError};
use guerdon_domain::values::RedemptionId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::{UserArgument, find_company_of_user, load_company, parse_id};
use crate::commands::arguments::payment::{
    IdempotencyKeyArgument, PaymentArguments, execute_once, unexpected_outcome,
};
use crate::commands::arguments::points_argument::format_worth;
use crate::commands::error::impl_from_errors;
use crate::commands::group_macro::command_group;
use crate::commands::output::WithText;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView as _, RunnableCommand};

command_group! {
    enum RedemptionCommand {
        /// Spend points from a user's user_wallet.
        Create(Create),
        /// Refund a redemption.
        Refund(Refund),
    }
}

/// Spend points from a user's user_wallet on a reward.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon redemption create ann@acme.example --company acme.example \
    --points 5 --key order-4711
  guerdon redemption create USER_ID --points 5")]
pub(crate) struct Create {
    #[command(flatten)]
    #[serde(flatten)]
    user: UserArgument,
    #[command(flatten)]
    #[serde(flatten)]
    payment: PaymentArguments,
}

/// Refund a redemption in full; a second refund is refused.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon redemption refund REDEMPTION_ID
  guerdon --output json redemption refund OTHER_REDEMPTION_ID")]
pub(crate) struct Refund {
    /// The redemption's id, from `redemption create`
    #[arg(value_name = "REDEMPTION_ID", value_parser = parse_id)]
    redemption_id: Uuid,
}

/// A redemption, or its refund.
#[derive(Serialize)]
struct RedemptionView {
    id: Uuid,
    user_id: Uuid,
    points: i64,
}

impl RunnableCommand for Create {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let request = ("redemption create", self.user.identity_for_key(environment)?, &self.payment.sum);
        if let Some(output) = self.payment.key.find_output(environment, &request)? {
            return Ok(output);
        }
        let user = self.user.find_id(environment)?;
        let company = find_company_of_user(environment, user)?;
        let command = Command::Redeem(Redeem { user_id: user, sum: self.payment.sum.to_sum()? });
        execute_once(environment, company.provider_id, command, &self.payment.key, &request, move |done| {
            let Done::Redeemed(redemption, wallet) = done else { return Err(unexpected_outcome(done)) };
            let [spent, before, now] =
                [wallet.points, wallet.before, wallet.after].map(|points| format_worth(points, wallet.rate));
            let (id, domain) = (redemption.id.as_uuid(), &company.domain);
            let text = format!(
                "redemption {id}: {spent} of user {user} of {domain}; the user_wallet held {before}, now {now}"
            );
            let fields = RedemptionView { id, user_id: user.as_uuid(), points: wallet.points.get() };
            WithText { fields, text }.to_output()
        })
    }
}

impl RunnableCommand for Refund {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = RedemptionId::from_uuid(self.redemption_id);
        let company = environment.store.read_snapshot(|reads| -> Result<_, CommandError> {
            let found = reads.find_redemption(id)?.ok_or(RefundError::NoSuchRedemption)?;
            load_company(reads, found.company_id)
        })?;
        let command = Command::Refund(redemptions::Refund(id));
        execute_once(
            environment,
            company.provider_id,
            command,
            &IdempotencyKeyArgument::default(),
            &id.as_uuid(),
            move |done| {
                let Done::Refunded(redemption, wallet) = done else { return Err(unexpected_outcome(done)) };
                let (user, domain) = (redemption.user_id, &company.domain);
                let (now, back) =
                    (format_worth(wallet.after, wallet.rate), format_worth(wallet.points, wallet.rate));
                let text = format!(
                    "redemption {id}: {back} returned to user {user} of {domain}; the user_wallet now holds {now}"
                );
                let fields =
                    RedemptionView { id: id.as_uuid(), user_id: user.as_uuid(), points: wallet.points.get() };
                WithText { fields, text }.to_output()
            },
        )
    }
}

impl_from_errors!(RefundError);
