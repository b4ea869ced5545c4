//! `guerdon saml`.

mod import;
pub(crate) mod metadata;
mod show;

use guerdon_api_types::views::{SamlView, sp_id};
use guerdon_domain::companies::Company;
use guerdon_domain::saml::SamlSettings;
use guerdon_domain::values::{EntityId, WebUrl};

use crate::commands::group_macro::command_group;
use crate::commands::output::format_fields;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput};

command_group! {
    enum SamlCommand {
        /// Import settings from an identity provider's metadata file.
        Import(import::Import),
        /// Show the settings, and the values to enter at the identity provider.
        Show(show::Show),
    }
}

fn render_settings(
    environment: &CommandEnvironment,
    company: &Company,
    settings: &SamlSettings,
) -> Result<CommandOutput, CommandError> {
    let service_url = &environment.settings.service_url;
    let unset = |value: Option<&str>| value.unwrap_or("not set").to_owned();
    let expiry = settings.idp_certificate.as_ref().map(|certificate| certificate.expires_at().to_string());
    let field_text = format_fields(&[
        ("single sign-on", if settings.active { "on" } else { "off" }),
        ("identity provider", &unset(settings.idp_id.as_ref().map(EntityId::as_str))),
        ("sign-on URL", &unset(settings.idp_url.as_ref().map(WebUrl::as_str))),
        ("certificate expires", &unset(expiry.as_deref())),
    ]);
    let sp = sp_id(service_url, company);
    let text =
        format!("{field_text}\n\nEnter these values at the identity provider:\n\nentity id, audience  {sp}");
    let json = serde_json::to_string(&SamlView::from_settings(service_url, company, settings))?;
    Ok(CommandOutput { text, json, ..CommandOutput::default() })
}
