//! `guerdon company show`.

use guerdon_api_types::views::CompanyView;
use guerdon_console::numbers;
use guerdon_domain::ports::{Lookup, StoreExt};
use serde::{Deserialize, Serialize};

use super::list_company_settings;
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
            let absent = || CommandError::Refused(format!("no company has the id {id}"));
            let scope = reads.provider_of_company(id)?.ok_or_else(absent)?;
            let Lookup::Own(found) = reads.find_company(scope, id)? else { return Err(absent()) };
            let users = reads.count_active_users(id)?;
            let json = serde_json::to_string(&CompanyView::for_fetch(&found, users))?;
            let company = &found.company;
            let owner = format!("{} <{}>", found.owner_name(), found.owner_email.as_str());
            let mut rows = vec![
                ("id", id.to_string()),
                ("provider", scope.to_string()),
                ("domain", company.domain.as_str().to_owned()),
                ("name", company.name.as_str().to_owned()),
                ("owner", owner),
                ("users", numbers::format_integer(users)),
            ];
            rows.extend(list_company_settings(company));
            rows.push(("created", company.created_at.to_string()));
            let rows: Vec<(&str, &str)> =
                rows.iter().map(|(label, value)| (*label, value.as_str())).collect();
            let text = format_fields(&rows);
            Ok(CommandOutput { text, json, ..CommandOutput::default() })
        })
    }
}
