//! `guerdon provider list` and `set`.

use guerdon_domain::ports::{ProviderChange, StoreError, StoreExt};
use guerdon_domain::providers::ChangeProviderError;
use guerdon_domain::providers::{Provider, change};
use guerdon_domain::values::{Line, ProviderId, Update};
use guerdon_webhook_dispatcher::check_url;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::named::ProviderName;
use super::output::table;
use super::{CommandError, Output, Runnable, View, Workplace};

/// Changes a provider; what is not named stays.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Set {
    /// The provider: an id or a name
    #[arg(value_name = "PROVIDER")]
    id: ProviderName,
    /// Its name from then on
    #[arg(long)]
    name: Option<String>,
    /// Where its events go: kept and signed exactly as written.
    #[arg(long, value_name = "U")]
    callback_url: Option<String>,
    /// Its events go nowhere.
    #[arg(long, conflicts_with = "callback_url")]
    no_callback_url: bool,
    /// Whether it may create and update companies and corporations and create users.
    #[arg(long, value_name = "true|false")]
    manages_all_domain_resources: Option<bool>,
    /// Whether its credentials are refused and its events wait.
    #[arg(long, value_name = "true|false")]
    suspended: Option<bool>,
}

/// A provider without its secrets.
#[derive(Serialize)]
pub(super) struct Listed {
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
            return "there is no provider yet: `guerdon provider create --name N` adds one".to_owned();
        }
        let yes = |it: bool| if it { "yes" } else { "no" }.to_owned();
        let row = |it: &Listed| {
            vec![
                it.id.to_string(),
                it.name.clone(),
                it.api_key.clone(),
                it.callback_url.clone().unwrap_or_else(|| "-".to_owned()),
                yes(it.manages_all_domain_resources),
                yes(it.suspended),
                it.created_at.clone(),
            ]
        };
        let head = ["id", "name", "api key", "callback url", "manages all", "suspended", "created at"];
        table(&head, &self.iter().map(row).collect::<Vec<_>>())
    }
}

impl View for Listed {
    fn text(&self) -> String {
        super::output::fields(&[
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

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct List {}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let providers = workplace.store.snapshot(|reads| -> Result<_, StoreError> { reads.providers() })?;
        providers.into_iter().map(Listed::from).collect::<Vec<_>>().output()
    }
}

/// A provider's name, for the operator.
pub(super) fn named(name: &str) -> Result<Line, CommandError> {
    Line::parse(name).map_err(|cause| CommandError::Refused(format!("name {cause}")))
}

/// Applies a change to a provider that must be there; answers it as it then is.
pub(super) fn changed(
    workplace: &Workplace,
    id: ProviderId,
    wanted: &ProviderChange,
) -> Result<Provider, CommandError> {
    workplace.store.transaction(|tx| Ok(change(tx, id, wanted, &workplace.context())?))
}

impl Runnable for Set {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let is_changed = self.name.is_some() || self.callback_url.is_some() || self.no_callback_url;
        if !is_changed && self.manages_all_domain_resources.is_none() && self.suspended.is_none() {
            return Err(CommandError::refused("nothing to set: say what is to be changed"));
        }
        if let Some(url) = &self.callback_url {
            check_url(url, workplace.settings.webhooks.policy()).map_err(CommandError::refused)?;
        }
        let callback_url = match (&self.callback_url, self.no_callback_url) {
            (_, true) => Update::Clear,
            (Some(url), false) => Update::Set(url.clone()),
            (None, false) => Update::Keep,
        };
        let wanted = ProviderChange {
            name: self.name.as_deref().map(named).transpose()?.map(|it| it.as_str().to_owned()),
            callback_url,
            manages_all_domain_resources: self.manages_all_domain_resources,
            suspended: self.suspended,
            ..ProviderChange::default()
        };
        Listed::from(changed(workplace, self.id.id(workplace)?, &wanted)?).output()
    }
}

refusals!(ChangeProviderError);
