//! `guerdon provider rotate`.

use std::time::Duration;

use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::providers::{FormerSecret, NewSecret, Provider, UpdateProviderError, rotate_secret};
use guerdon_domain::values::{ProviderId, checked_cast};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{API_SECRET_PREFIX, SHARED_SECRET_PREFIX};
use crate::commands::arguments::identifiers::ProviderArgument;
use crate::commands::arguments::limit::parse_number;
use crate::commands::output::format_fields;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::platform::random;

/// Rotate a secret.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon provider rotate Acme --api-secret --grace 24
  guerdon provider rotate Acme --shared-secret")]
pub(crate) struct Rotate {
    /// The provider: an id or a name
    #[arg(value_name = "PROVIDER")]
    id: ProviderArgument,
    #[command(flatten)]
    #[serde(flatten)]
    secret_kind: SecretKind,
    /// Grace period in hours. Until it ends, the old API secret remains valid in addition to the new one, and the old
    /// shared secret still signs events.
    #[arg(long, value_name = "HOURS", allow_negative_numbers = true, value_parser = parse_hours)]
    #[serde(default)]
    grace: Option<u16>,
}

fn parse_hours(text: &str) -> Result<u16, String> {
    parse_number(text, 1..=8_760).map(checked_cast)
}

/// The secret to replace.
#[derive(Debug, Clone, Copy, clap::Args, Serialize, Deserialize)]
#[group(required = true, multiple = false)]
pub(crate) struct SecretKind {
    /// The API secret: the password of the API key.
    #[arg(long)]
    api_secret: bool,
    /// The shared secret: the key that signs events.
    #[arg(long)]
    shared_secret: bool,
}

/// The new secret, which is not shown again.
#[derive(Serialize)]
struct RotatedSecretView<'a> {
    id: Uuid,
    #[serde(skip)]
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_secret: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_secret: Option<&'a str>,
    /// `None` if the old secret expired immediately.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_secret_valid_until: Option<String>,
}

impl<'a> RotatedSecretView<'a> {
    fn from_provider(provider: &'a Provider, former: Option<&FormerSecret>) -> Self {
        Self {
            id: provider.id.as_uuid(),
            name: &provider.name,
            api_key: None,
            api_secret: None,
            shared_secret: None,
            old_secret_valid_until: former.map(|former| former.valid_until.to_string()),
        }
    }
}

impl CommandView for RotatedSecretView<'_> {
    fn to_text(&self) -> String {
        let id = self.id.to_string();
        let old = match &self.old_secret_valid_until {
            Some(until) => format!("valid until {until}"),
            None => "no longer valid".to_owned(),
        };
        let fields = [
            ("provider", Some(self.name)),
            ("id", Some(&id)),
            ("api_key", self.api_key),
            ("api_secret", self.api_secret),
            ("shared_secret", self.shared_secret),
            ("old secret", Some(&old)),
        ];
        let rows: Vec<(&str, &str)> =
            fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        format_fields(&rows)
    }
}

impl RunnableCommand for Rotate {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = self.id.find_id(environment)?;
        if self.secret_kind.api_secret {
            self.rotate_api_secret(environment, id)
        } else {
            self.rotate_shared_secret(environment, id)
        }
    }
}

impl Rotate {
    fn rotate_api_secret(
        &self,
        environment: &CommandEnvironment,
        id: ProviderId,
    ) -> Result<CommandOutput, CommandError> {
        let secret = random::generate_secret(API_SECRET_PREFIX)?;
        let provider =
            self.rotate_secret(environment, id, NewSecret::Api(environment.keys.hash_secret(&secret)))?;
        RotatedSecretView {
            api_key: Some(&provider.api_key),
            api_secret: Some(secret.expose()),
            ..RotatedSecretView::from_provider(&provider, provider.former_api_secret.as_ref())
        }
        .to_output()
    }

    fn rotate_shared_secret(
        &self,
        environment: &CommandEnvironment,
        id: ProviderId,
    ) -> Result<CommandOutput, CommandError> {
        let secret = random::generate_secret(SHARED_SECRET_PREFIX)?;
        let sealed = environment.keys.encrypt_secret(id, &secret)?;
        let provider = self.rotate_secret(environment, id, NewSecret::Shared(sealed))?;
        RotatedSecretView {
            shared_secret: Some(secret.expose()),
            ..RotatedSecretView::from_provider(&provider, provider.former_shared_secret.as_ref())
        }
        .to_output()
    }

    fn rotate_secret(
        &self,
        environment: &CommandEnvironment,
        id: ProviderId,
        secret: NewSecret,
    ) -> Result<Provider, UpdateProviderError> {
        let grace = self.grace.map(|hours| Duration::from_secs(u64::from(hours) * 3_600));
        let context = environment.context();
        environment.store.transaction(|tx| rotate_secret(tx, id, secret.clone(), grace, &context))
    }
}
