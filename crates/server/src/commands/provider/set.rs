//! `guerdon provider set`.

use guerdon_domain::providers::UpdateProvider;
use guerdon_domain::values::Update;
use guerdon_webhook_dispatcher::check_callback_url;
use serde::{Deserialize, Serialize};

use super::{ProviderView, parse_name, update_provider};
use crate::commands::arguments::identifiers::ProviderArgument;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// Update a provider; options that are not given stay unchanged.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon provider set Acme --callback-url https://acme.example/hooks
  guerdon provider set Acme --suspended true")]
#[command(group(clap::ArgGroup::new("change").required(true).multiple(true)))]
#[command(override_usage = "guerdon provider set [OPTIONS] <PROVIDER>")]
pub(crate) struct Set {
    /// The provider: an id or a name
    #[arg(value_name = "PROVIDER")]
    id: ProviderArgument,
    /// The new name
    #[arg(long, group = "change")]
    name: Option<String>,
    /// The URL that receives events; stored and signed exactly as given.
    #[arg(long, value_name = "URL", group = "change")]
    callback_url: Option<String>,
    /// Remove the callback URL.
    #[arg(long, conflicts_with = "callback_url", group = "change")]
    no_callback_url: bool,
    /// Whether the provider may create and update companies and corporations and create users.
    #[arg(long, value_name = "true|false", group = "change")]
    manages_all_domain_resources: Option<bool>,
    /// Whether the provider is suspended: its credentials are refused, and its events wait.
    #[arg(long, value_name = "true|false", group = "change")]
    suspended: Option<bool>,
}

impl RunnableCommand for Set {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        if let Some(url) = &self.callback_url {
            check_callback_url(url, environment.settings.webhooks.egress).map_err(CommandError::refused)?;
        }
        let callback_url = match (&self.callback_url, self.no_callback_url) {
            (_, true) => Update::Clear,
            (Some(url), false) => Update::Set(url.clone()),
            (None, false) => Update::Keep,
        };
        let update = UpdateProvider {
            name: self.name.as_deref().map(parse_name).transpose()?.map(|name| name.as_str().to_owned()),
            callback_url,
            manages_all_domain_resources: self.manages_all_domain_resources,
            suspended: self.suspended,
        };
        ProviderView::from(update_provider(environment, self.id.find_id(environment)?, &update)?).to_output()
    }
}
