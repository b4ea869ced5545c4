//! `guerdon saml import`.

use super::metadata::{Metadata, read};
use super::render_settings;
use crate::commands::arguments::names::CompanyName;
use crate::commands::error::refusals;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::saml::{UpdateSaml, UpdateSamlError, update};
use guerdon_domain::values::{EntityId, PemCertificate, Update, WebUrl};
use serde::{Deserialize, Serialize};

/// Import entity id, sign-on URL and certificate from an identity provider's metadata file. Nothing is fetched, and
/// single sign-on is neither enabled nor disabled.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon saml import acme.example METADATA
  guerdon --output json saml import acme.example METADATA")]
pub(crate) struct Import {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// The metadata file of the identity provider (SAML 2.0)
    #[arg(value_name = "METADATA.xml", value_parser = read)]
    file: Result<Metadata, String>,
}

impl Runnable for Import {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let company = self.company_id.load(environment)?;
        let found = self.file.as_ref().map_err(CommandError::refused)?;
        let told = |name: &str, cause: &dyn ToString| {
            CommandError::Refused(format!("the metadata's {name} {}", cause.to_string()))
        };
        let certificates: Result<Vec<_>, _> =
            found.certificates.iter().map(|certificate| PemCertificate::parse(certificate)).collect();
        let certificates = certificates.map_err(|error| told("certificate", &error))?;
        let several = certificates.len() > 1;
        // While an identity provider replaces its key, its metadata has the old one and the new one.
        let last = certificates.into_iter().max_by_key(PemCertificate::expires_at);
        let certificate = last.ok_or_else(|| CommandError::refused("the metadata has no certificate"))?;
        let note = several.then(|| {
            format!(
                "the metadata has {} signing certificates: using the one that expires last, on {}",
                found.certificates.len(),
                certificate.expires_at()
            )
        });
        let command = UpdateSaml {
            idp_id: Update::Set(EntityId::parse(&found.entity_id).map_err(|error| told("entityID", &error))?),
            idp_url: Update::Set(
                WebUrl::parse(&found.sign_on_url).map_err(|error| told("Location", &error))?,
            ),
            idp_certificate: Update::Set(certificate),
            active: None,
        };
        let context = environment.context();
        let (company, settings) = environment
            .store
            .transaction(|tx| update(tx, company.provider_id, company.id, &command, &context))?;
        Ok(Output { notes: note.into_iter().collect(), ..render_settings(environment, &company, &settings)? })
    }
}

refusals!(UpdateSamlError);
