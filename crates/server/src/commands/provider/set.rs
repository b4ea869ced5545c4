//! `guerdon provider set`.

use guerdon_domain::ports::ProviderChange;
use guerdon_domain::values::Update;
use guerdon_webhook_dispatcher::check_url;
use serde::{Deserialize, Serialize};

use super::{Listed, change_provider, parse_name};
use crate::commands::arguments::names::ProviderName;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// Update a provider; options that are not given stay unchanged.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon provider set Acme --callback-url https://acme.example/hooks
  guerdon provider set Acme --suspended true")]
pub(crate) struct Set {
    /// The provider: an id or a name
    #[arg(value_name = "PROVIDER")]
    id: ProviderName,
    /// The new name
    #[arg(long)]
    name: Option<String>,
    /// The URL that receives events; stored and signed exactly as given.
    #[arg(long, value_name = "U")]
    callback_url: Option<String>,
    /// Remove the callback URL.
    #[arg(long, conflicts_with = "callback_url")]
    no_callback_url: bool,
    /// Whether the provider may create and update companies and corporations and create users.
    #[arg(long, value_name = "true|false")]
    manages_all_domain_resources: Option<bool>,
    /// Whether the provider is suspended: its credentials are refused, and its events wait.
    #[arg(long, value_name = "true|false")]
    suspended: Option<bool>,
}

impl Runnable for Set {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let is_changed = self.name.is_some() || self.callback_url.is_some() || self.no_callback_url;
        if !is_changed && self.manages_all_domain_resources.is_none() && self.suspended.is_none() {
            return Err(CommandError::refused("nothing to change: pass at least one option"));
        }
        if let Some(url) = &self.callback_url {
            check_url(url, environment.settings.webhooks.policy()).map_err(CommandError::refused)?;
        }
        let callback_url = match (&self.callback_url, self.no_callback_url) {
            (_, true) => Update::Clear,
            (Some(url), false) => Update::Set(url.clone()),
            (None, false) => Update::Keep,
        };
        let wanted = ProviderChange {
            name: self.name.as_deref().map(parse_name).transpose()?.map(|name| name.as_str().to_owned()),
            callback_url,
            manages_all_domain_resources: self.manages_all_domain_resources,
            suspended: self.suspended,
            ..ProviderChange::default()
        };
        Listed::from(change_provider(environment, self.id.find_id(environment)?, &wanted)?).output()
    }
}
