//! `guerdon user show`.

use guerdon_api_types::views::{UserView, WalletView};
use guerdon_console::numbers;
use guerdon_domain::any_provider;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::SingleLine;
use serde::{Deserialize, Serialize};

use super::{format_name, format_rights};
use crate::commands::arguments::identifiers::{UserArgument, load_company};
use crate::commands::output::{format_fields, format_table, or_dash};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// Show a user, active or deleted, and the points in the user's wallets.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon user show ann@acme.example --company acme.example
  guerdon user show USER_ID")]
pub(crate) struct Show {
    #[command(flatten)]
    #[serde(flatten)]
    user: UserArgument,
}

#[derive(Serialize)]
struct UserWithWallets<'a> {
    #[serde(flatten)]
    user: UserView<'a>,
    wallets: Vec<WalletView>,
}

impl RunnableCommand for Show {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = self.user.find_id(environment)?;
        environment.store.read_snapshot(|reads| {
            let absent = || CommandError::Refused(format!("no user has the id {id}"));
            let user = any_provider::find_user(reads, id)?.ok_or_else(absent)?;
            let company = load_company(reads, user.company_id)?;
            let rate = company.rate;
            let wallets = reads.list_wallets(id)?;
            let views = wallets.iter().map(|wallet| WalletView::from_wallet(wallet, rate)).collect();
            let json =
                serde_json::to_string(&UserWithWallets { user: UserView::from_user(&user), wallets: views })?;
            let wallet_rows: Vec<Vec<String>> = wallets
                .iter()
                .map(|wallet| {
                    let format = |points: i64| numbers::format_integer(points);
                    let points = format(wallet.points_at(rate).get());
                    vec![
                        wallet.wallet_type.name().to_owned(),
                        points,
                        format(wallet.points_spent(rate).get()),
                    ]
                })
                .collect();
            let details = &user.profile.details;
            let format_detail =
                |detail: &Option<SingleLine>| or_dash(detail.as_ref().map(SingleLine::as_str));
            let text = format_fields(&[
                ("id", &id.to_string()),
                ("company", &format!("{} ({})", user.company_id, company.domain)),
                ("email", user.profile.email.as_str()),
                ("name", &format_name(&user)),
                ("title", &format_detail(&details.title)),
                ("department", &format_detail(&details.department)),
                ("employee id", &format_detail(&details.employee_id)),
                ("rights", &format_rights(&user)),
                ("created", &user.created_at.to_string()),
                ("updated", &user.updated_at.to_string()),
                ("deleted", &or_dash(user.deleted_at)),
            ]);
            let text =
                format!("{text}\n\n{}", format_table(&["wallet", "points", "points spent"], &wallet_rows));
            Ok(CommandOutput { text, json, ..CommandOutput::default() })
        })
    }
}
