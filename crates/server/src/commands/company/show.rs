//! `guerdon company show`.

use guerdon_api_types::views::CompanyView;
use guerdon_console::numbers;
use guerdon_domain::ports::{Lookup, StoreExt};
use serde::{Deserialize, Serialize};

use crate::commands::arguments::identifiers::CompanyArgument;
use crate::commands::output::format_fields;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// Show a company.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company show acme.example
  guerdon --output json company show acme.example")]
pub(crate) struct Show {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
}

impl RunnableCommand for Show {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = self.company_id.find_id(environment)?;
        environment.store.read_snapshot(|reads| {
            let absent = || CommandError::refused("no company has this id");
            let scope = reads.provider_of_company(id)?.ok_or_else(absent)?;
            let Lookup::Own(found) = reads.find_company(scope, id)? else { return Err(absent()) };
            let users = reads.count_active_users(id)?;
            let json = serde_json::to_string(&CompanyView::for_fetch(&found, users))?;
            let (company, owner) = (&found.company, found.owner_name());
            let rate = numbers::format_integer(company.rate.get());
            let count = numbers::format_integer(users);
            let alert = company.reserve_alert.map_or_else(|| "-".to_owned(), |alert| alert.to_text());
            let text = format_fields(&[
                ("id", &id.to_string()),
                ("provider", &scope.to_string()),
                ("domain", company.domain.as_str()),
                ("name", company.name.as_str()),
                ("owner", &format!("{owner} <{}>", found.owner_email.as_str())),
                ("users", &count),
                ("points per dollar", &rate),
                ("reserve alert", &alert),
                ("0 points", if company.allow_zero_points { "allowed" } else { "not allowed" }),
                ("created", &company.created_at.to_string()),
            ]);
            Ok(CommandOutput { text, json, ..CommandOutput::default() })
        })
    }
}
