//! `guerdon provider`.

mod create;
mod list;
mod rotate;
mod set;

use guerdon_domain::ports::{ProviderChange, StoreExt};
use guerdon_domain::providers::ChangeProviderError;
use guerdon_domain::providers::{Provider, change};
use guerdon_domain::values::{Line, ProviderId};
use serde::Serialize;
use uuid::Uuid;

use crate::commands::error::refusals;
use crate::commands::group::command_group;
use crate::commands::output::table;
use crate::commands::{CommandEnvironment, CommandError, View};

/// The prefixes of the credentials, by which a leaked one can be recognised.
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
struct Listed {
    id: Uuid,
    name: String,
    api_key: String,
    callback_url: Option<String>,
    manages_all_domain_resources: bool,
    suspended: bool,
    created_at: String,
}

impl From<Provider> for Listed {
    fn from(it: Provider) -> Self {
        Self {
            id: it.id.as_uuid(),
            name: it.name,
            api_key: it.api_key,
            callback_url: it.callback_url,
            manages_all_domain_resources: it.manages_all_domain_resources,
            suspended: it.suspended,
            created_at: it.created_at.to_string(),
        }
    }
}

impl View for Vec<Listed> {
    fn text(&self) -> String {
        if self.is_empty() {
            return "no providers; create one with `guerdon provider create --name N`".to_owned();
        }
        let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
        let row = |provider: &Listed| {
            vec![
                provider.id.to_string(),
                provider.name.clone(),
                provider.api_key.clone(),
                provider.callback_url.clone().unwrap_or_else(|| "-".to_owned()),
                yes(provider.manages_all_domain_resources),
                yes(provider.suspended),
                provider.created_at.clone(),
            ]
        };
        let head = ["id", "name", "api key", "callback url", "manages all", "suspended", "created at"];
        table(&head, &self.iter().map(row).collect::<Vec<_>>())
    }
}

impl View for Listed {
    fn text(&self) -> String {
        crate::commands::output::fields(&[
            ("id", &self.id.to_string()),
            ("name", &self.name),
            ("api_key", &self.api_key),
            ("callback_url", self.callback_url.as_deref().unwrap_or("-")),
            ("manages_all_domain_resources", &self.manages_all_domain_resources.to_string()),
            ("suspended", &self.suspended.to_string()),
            ("created_at", &self.created_at),
        ])
    }
}

/// Parses the name of a provider; the refusal names the field.
fn parse_name(name: &str) -> Result<Line, CommandError> {
    Line::parse(name).map_err(|cause| CommandError::Refused(format!("name {cause}")))
}

/// Changes a provider and returns it as it is afterwards. Refused if the provider does not exist.
fn change_provider(
    environment: &CommandEnvironment,
    id: ProviderId,
    wanted: &ProviderChange,
) -> Result<Provider, CommandError> {
    environment.store.transaction(|tx| Ok(change(tx, id, wanted, &environment.context())?))
}

refusals!(ChangeProviderError);
