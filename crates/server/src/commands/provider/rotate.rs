//! `guerdon provider rotate`.

use std::time::Duration;

use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::providers::{ChangeProviderError, Former, NewSecret, Provider, rotate};
use guerdon_domain::values::{ProviderId, fit};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{API_SECRET_PREFIX, SHARED_SECRET_PREFIX};
use crate::commands::arguments::limit::parse_number;
use crate::commands::arguments::names::ProviderName;
use crate::commands::output::fields;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};
use crate::platform::random;

/// Rotate a secret.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon provider rotate Acme --api-secret --grace 24
  guerdon provider rotate Acme --shared-secret")]
pub(crate) struct Rotate {
    /// The provider: an id or a name
    #[arg(value_name = "PROVIDER")]
    id: ProviderName,
    #[command(flatten)]
    #[serde(flatten)]
    which: Which,
    /// Grace period in hours: an old API secret stays valid with the new one; an old shared secret signs until its end.
    #[arg(long, value_name = "HOURS", allow_negative_numbers = true, value_parser = hours)]
    #[serde(default)]
    grace: Option<u16>,
}

fn hours(text: &str) -> Result<u16, String> {
    parse_number(text, 1..=8_760).map(fit)
}

/// The secret to replace.
#[derive(Debug, Clone, Copy, clap::Args, Serialize, Deserialize)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// The API secret: the password of the API key.
    #[arg(long)]
    api_secret: bool,
    /// The shared secret: the key that signs events.
    #[arg(long)]
    shared_secret: bool,
}

/// The new secret, which is not shown again.
#[derive(Serialize)]
struct Rotated<'a> {
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

impl<'a> Rotated<'a> {
    fn of(provider: &'a Provider, former: Option<&Former>) -> Self {
        Self {
            id: provider.id.as_uuid(),
            name: &provider.name,
            api_key: None,
            api_secret: None,
            shared_secret: None,
            old_secret_valid_until: former.map(|former| former.until.to_string()),
        }
    }
}

impl View for Rotated<'_> {
    fn text(&self) -> String {
        let id = self.id.to_string();
        let old = match &self.old_secret_valid_until {
            Some(until) => format!("valid until {until}"),
            None => "no longer valid".to_owned(),
        };
        let all = [
            ("provider", Some(self.name)),
            ("id", Some(&id)),
            ("api_key", self.api_key),
            ("api_secret", self.api_secret),
            ("shared_secret", self.shared_secret),
            ("old secret", Some(&old)),
        ];
        let shown: Vec<(&str, &str)> =
            all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        fields(&shown)
    }
}

impl Runnable for Rotate {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let id = self.id.find_id(environment)?;
        if self.which.api_secret {
            self.api_secret(environment, id)
        } else {
            self.shared_secret(environment, id)
        }
    }
}

impl Rotate {
    fn api_secret(&self, environment: &CommandEnvironment, id: ProviderId) -> Result<Output, CommandError> {
        let secret = random::secret(API_SECRET_PREFIX).map_err(|error| CommandError::failed(&error))?;
        let provider = self.rotated(environment, id, NewSecret::Api(environment.keys.hash(&secret)))?;
        Rotated {
            api_key: Some(&provider.api_key),
            api_secret: Some(secret.expose()),
            ..Rotated::of(&provider, provider.former_api_secret.as_ref())
        }
        .output()
    }

    fn shared_secret(
        &self,
        environment: &CommandEnvironment,
        id: ProviderId,
    ) -> Result<Output, CommandError> {
        let secret = random::secret(SHARED_SECRET_PREFIX).map_err(|error| CommandError::failed(&error))?;
        let sealed = environment.keys.seal(id, &secret)?;
        let provider = self.rotated(environment, id, NewSecret::Shared(sealed))?;
        Rotated {
            shared_secret: Some(secret.expose()),
            ..Rotated::of(&provider, provider.former_shared_secret.as_ref())
        }
        .output()
    }

    fn rotated(
        &self,
        environment: &CommandEnvironment,
        id: ProviderId,
        secret: NewSecret,
    ) -> Result<Provider, ChangeProviderError> {
        let grace = self.grace.map(|hours| Duration::from_secs(u64::from(hours) * 3_600));
        let context = environment.context();
        environment.store.transaction(|tx| rotate(tx, id, secret.clone(), grace, &context))
    }
}
