//! `guerdon provider create`.

use guerdon_domain::ports::{IdGenerator, StoreExt};
use guerdon_domain::providers::{CreateProvider, create};
use guerdon_domain::values::ProviderId;
use guerdon_webhook_dispatcher::check_callback_url;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{API_KEY_PREFIX, API_SECRET_PREFIX, SHARED_SECRET_PREFIX, parse_name};
use crate::commands::output::{format_fields, or_dash};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::platform::{SystemIds, random};

/// Create a provider.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon provider create --name Beta \
    --callback-url https://acme.example/hook
  guerdon provider create --name Gamma --manages-all-domain-resources")]
pub(crate) struct Create {
    /// The provider's name.
    #[arg(long)]
    name: String,
    /// The URL that receives events; stored and signed exactly as given.
    #[arg(long, value_name = "URL")]
    callback_url: Option<String>,
    /// Allow the provider to create and update companies and corporations and to create users.
    #[arg(long)]
    manages_all_domain_resources: bool,
}

#[derive(Serialize)]
struct CreatedProviderView<'a> {
    id: Uuid,
    name: &'a str,
    api_key: &'a str,
    api_secret: &'a str,
    shared_secret: &'a str,
    callback_url: Option<&'a str>,
    manages_all_domain_resources: bool,
}

impl CommandView for CreatedProviderView<'_> {
    fn to_text(&self) -> String {
        let shown = format_fields(&[
            ("id", &self.id.to_string()),
            ("name", self.name),
            ("api_key", self.api_key),
            ("api_secret", self.api_secret),
            ("shared_secret", self.shared_secret),
            ("callback_url", &or_dash(self.callback_url)),
            ("manages_all_domain_resources", &self.manages_all_domain_resources.to_string()),
        ]);
        format!("{shown}\nThe secrets are not shown again.")
    }
}

impl RunnableCommand for Create {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        if let Some(url) = &self.callback_url {
            check_callback_url(url, environment.settings.webhooks.egress).map_err(CommandError::refused)?;
        }
        let id = ProviderId::from_uuid(SystemIds.next_id());
        let api_secret = random::generate_secret(API_SECRET_PREFIX)?;
        let shared_secret = random::generate_secret(SHARED_SECRET_PREFIX)?;
        let name = parse_name(&self.name)?;
        let api_key = random::generate_name(API_KEY_PREFIX)?;
        let encrypted_shared_secret = environment.keys.encrypt_secret(id, &shared_secret)?;
        let provider = environment.store.transaction(|tx| {
            let new = CreateProvider {
                id,
                name: name.clone(),
                api_key: api_key.clone(),
                api_secret_hash: environment.keys.hash_secret(&api_secret),
                encrypted_shared_secret: encrypted_shared_secret.clone(),
                callback_url: self.callback_url.clone(),
                manages_all_domain_resources: self.manages_all_domain_resources,
            };
            create(tx, new, &environment.context())
        })?;
        CreatedProviderView {
            id: id.as_uuid(),
            name: &provider.name,
            api_key: &provider.api_key,
            api_secret: api_secret.expose(),
            shared_secret: shared_secret.expose(),
            callback_url: provider.callback_url.as_deref(),
            manages_all_domain_resources: provider.manages_all_domain_resources,
        }
        .to_output()
    }
}
