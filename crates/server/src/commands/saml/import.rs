//! `guerdon saml import`.

use guerdon_domain::ports::StoreExt;
use guerdon_domain::saml::{UpdateSaml, UpdateSamlError, update};
use guerdon_domain::values::{EntityId, PemCertificate, Update, WebUrl};
use serde::{Deserialize, Serialize};

use super::metadata::{Metadata, read_metadata};
use super::render_settings;
use crate::commands::arguments::identifiers::CompanyArgument;
use crate::commands::error::impl_from_errors;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// Import entity id, sign-on URL and certificate from an identity provider's metadata file. Nothing is fetched, and
/// single sign-on is neither enabled nor disabled.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon saml import acme.example METADATA
  guerdon --output json saml import acme.example METADATA")]
pub(crate) struct Import {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    /// The metadata file of the identity provider (SAML 2.0)
    #[arg(value_name = "METADATA.xml", value_parser = read_metadata)]
    file: Result<Metadata, String>,
}

impl RunnableCommand for Import {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company_id.find_company(environment)?;
        let found = self.file.as_ref().map_err(CommandError::refused)?;
        let invalid_part = |name: &str, cause: &dyn ToString| {
            CommandError::Refused(format!("the metadata's {name} {}", cause.to_string()))
        };
        let certificates: Result<Vec<_>, _> =
            found.certificates.iter().map(|certificate| PemCertificate::parse(certificate)).collect();
        let certificates = certificates.map_err(|error| invalid_part("certificate", &error))?;
        let several = certificates.len() > 1;
        // While an identity provider replaces its key, its metadata contains both the old and the new certificate.
        let last = certificates.into_iter().max_by_key(PemCertificate::expires_at);
        let certificate = last.ok_or_else(|| CommandError::refused("the metadata has no certificate"))?;
        let note = several.then(|| {
            format!(
                "the metadata has {} signing certificates: using the one that expires last, on {}",
                found.certificates.len(),
                certificate.expires_at()
            )
        });
        let changes = UpdateSaml {
            idp_id: Update::Set(
                EntityId::parse(&found.entity_id).map_err(|error| invalid_part("entityID", &error))?,
            ),
            idp_url: Update::Set(
                WebUrl::parse(&found.sign_on_url).map_err(|error| invalid_part("Location", &error))?,
            ),
            idp_certificate: Update::Set(certificate),
            active: None,
        };
        let context = environment.context();
        let (company, settings) = environment
            .store
            .transaction(|tx| update(tx, company.provider_id, company.id, &changes, &context))?;
        Ok(CommandOutput {
            notes: note.into_iter().collect(),
            ..render_settings(environment, &company, &settings)?
        })
    }
}

impl_from_errors!(UpdateSamlError);
