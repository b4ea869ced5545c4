//! `guerdon provider`.

mod create;
mod list;
mod rotate;
mod set;

use guerdon_domain::ports::StoreExt;
use guerdon_domain::providers::{self, Provider, UpdateProvider, UpdateProviderError};
use guerdon_domain::values::{ProviderId, SingleLine};
use serde::Serialize;
use uuid::Uuid;

use crate::commands::error::impl_from_errors;
use crate::commands::group_macro::command_group;
use crate::commands::output::{format_fields, format_table, or_dash};
use crate::commands::{CommandEnvironment, CommandError, CommandView};

/// The prefixes of the credentials, so that leaked credentials can be recognised.
const API_KEY_PREFIX: &str = "gk_";
const API_SECRET_PREFIX: &str = "gs_";
const SHARED_SECRET_PREFIX: &str = "gw_";

command_group! {
    enum ProviderCommand {
        /// Create a provider and print its secrets, which are not shown again.
        Create(create::Create),
        /// List all providers, oldest first.
        List(list::List),
        /// Update a provider.
        Set(set::Set),
        /// Rotate a secret; the old one expires now or after a grace period.
        Rotate(rotate::Rotate),
    }
}

/// A provider without its secrets.
#[derive(Serialize)]
struct ProviderView {
    id: Uuid,
    name: String,
    api_key: String,
    callback_url: Option<String>,
    manages_all_domain_resources: bool,
    suspended: bool,
    created_at: String,
}

impl From<Provider> for ProviderView {
    fn from(provider: Provider) -> Self {
        Self {
            id: provider.id.as_uuid(),
            name: provider.name,
            api_key: provider.api_key,
            callback_url: provider.callback_url,
            manages_all_domain_resources: provider.manages_all_domain_resources,
            suspended: provider.suspended,
            created_at: provider.created_at.to_string(),
        }
    }
}

impl CommandView for Vec<ProviderView> {
    fn to_text(&self) -> String {
        if self.is_empty() {
            return "no providers; create one with `guerdon provider create --name NAME`".to_owned();
        }
        let yes_or_no = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
        let row = |provider: &ProviderView| {
            vec![
                provider.id.to_string(),
                provider.name.clone(),
                provider.api_key.clone(),
                or_dash(provider.callback_url.as_ref()),
                yes_or_no(provider.manages_all_domain_resources),
                yes_or_no(provider.suspended),
                provider.created_at.clone(),
            ]
        };
        let head = ["id", "name", "api key", "callback url", "manages all", "suspended", "created at"];
        format_table(&head, &self.iter().map(row).collect::<Vec<_>>())
    }
}

impl CommandView for ProviderView {
    fn to_text(&self) -> String {
        format_fields(&[
            ("id", &self.id.to_string()),
            ("name", &self.name),
            ("api_key", &self.api_key),
            ("callback_url", &or_dash(self.callback_url.as_ref())),
            ("manages_all_domain_resources", &self.manages_all_domain_resources.to_string()),
            ("suspended", &self.suspended.to_string()),
            ("created_at", &self.created_at),
        ])
    }
}

/// Parses the name of a provider. The error names the field.
fn parse_name(name: &str) -> Result<SingleLine, CommandError> {
    SingleLine::parse(name).map_err(|cause| CommandError::Refused(format!("name {cause}")))
}

/// Changes a provider and returns the changed provider. Fails if the provider does not exist.
fn update_provider(
    environment: &CommandEnvironment,
    id: ProviderId,
    update: &UpdateProvider,
) -> Result<Provider, CommandError> {
    environment.store.transaction(|tx| Ok(providers::update(tx, id, update, &environment.context())?))
}

impl_from_errors!(UpdateProviderError);
