//! `guerdon wallet`.

use guerdon_domain::commands::{Command, Done};
use guerdon_domain::overrides::OverrideBalance;
use guerdon_domain::wallets::WalletType;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::WalletName;
use crate::commands::arguments::identifiers::{UserArgument, find_company_of_user};
use crate::commands::arguments::payment::{PaymentArguments, execute_once, unexpected_outcome};
use crate::commands::arguments::points_argument::format_worth;
use crate::commands::group_macro::command_group;
use crate::commands::output::WithText;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView as _, RunnableCommand};

command_group! {
    enum WalletCommand {
        /// Set a wallet's balance; the difference is moved from or to the reserve.
        Override(Override),
    }
}

/// Set the balance of a user's wallet; the difference is moved from or to the company's reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon wallet override ann@acme.example --company acme.example \
    --wallet peer_wallet --points 30
  guerdon wallet override USER_ID --wallet user_wallet --points 40 \
    --key correction-12")]
pub(crate) struct Override {
    #[command(flatten)]
    #[serde(flatten)]
    user: UserArgument,
    /// The wallet
    #[arg(long, value_enum)]
    wallet: WalletName,
    #[command(flatten)]
    #[serde(flatten)]
    payment: PaymentArguments,
}

/// The wallet after the change.
#[derive(Serialize)]
struct WalletView {
    user_id: Uuid,
    wallet: WalletName,
    points: i64,
}

impl RunnableCommand for Override {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let wallet = self.wallet;
        let request =
            ("wallet override", self.user.identity_for_key(environment)?, wallet, &self.payment.sum);
        if let Some(output) = self.payment.key.find_output(environment, &request)? {
            return Ok(output);
        }
        let user = self.user.find_id(environment)?;
        let company = find_company_of_user(environment, user)?;
        let kind = WalletType::from(wallet);
        let sum = self.payment.sum.to_sum()?;
        let command = Command::OverrideBalance(OverrideBalance { user_id: user, wallet: kind, sum });
        execute_once(environment, company.provider_id, command, &self.payment.key, &request, move |done| {
            let Done::BalanceOverridden(replaced) = done else { return Err(unexpected_outcome(done)) };
            let (before, now) =
                (format_worth(replaced.before, replaced.rate), format_worth(replaced.after, replaced.rate));
            let (name, domain) = (kind.name(), &company.domain);
            let text = format!("the {name} of user {user} of {domain}: before {before}, now {now}");
            let fields = WalletView { user_id: user.as_uuid(), wallet, points: replaced.points.get() };
            WithText { fields, text }.to_output()
        })
    }
}
