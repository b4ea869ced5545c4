//! `guerdon saml`.

use guerdon_domain::companies::Company;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::saml::{SamlSettings, UpdateSaml, UpdateSamlError, update};
use guerdon_domain::values::{EntityId, PemCertificate, Update, WebUrl};
use guerdon_http_api::shown;
use serde::{Deserialize, Serialize};

use super::error::refusals;
use super::metadata::{Metadata, read};
use super::named::CompanyName;
use super::output::fields;
use super::{CommandError, Output, Runnable, Workplace};

/// Takes identifier, address and certificate out of an identity provider's metadata. Nothing is fetched; whether single
/// sign-on is on stays as it is.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Import {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// The metadata file of the identity provider (SAML 2.0)
    #[arg(value_name = "METADATA.xml", value_parser = read)]
    file: Result<Metadata, String>,
}

/// Shows the settings, with what is to be entered at the identity provider.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Show {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
}

impl Runnable for Import {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let company = self.company_id.company(workplace)?;
        let found = self.file.as_ref().map_err(CommandError::refused)?;
        let told = |name: &str, cause: &dyn ToString| {
            CommandError::Refused(format!("the metadata's {name} {}", cause.to_string()))
        };
        let certificates: Result<Vec<_>, _> =
            found.certificates.iter().map(|it| PemCertificate::parse(it)).collect();
        let certificates = certificates.map_err(|it| told("certificate", &it))?;
        let several = certificates.len() > 1;
        // While an identity provider changes its key it names the old one and the new.
        let last = certificates.into_iter().max_by_key(PemCertificate::expires_at);
        let certificate = last.ok_or_else(|| CommandError::refused("the metadata has no certificate"))?;
        let note = several.then(|| {
            format!(
                "the metadata has {} certificates for signing: the one that ends last is taken, on {}",
                found.certificates.len(),
                certificate.expires_at()
            )
        });
        let command = UpdateSaml {
            idp_id: Update::Set(EntityId::parse(&found.entity_id).map_err(|it| told("entityID", &it))?),
            idp_url: Update::Set(WebUrl::parse(&found.sign_on_url).map_err(|it| told("Location", &it))?),
            idp_certificate: Update::Set(certificate),
            active: None,
        };
        let context = workplace.context();
        let (company, settings) = workplace
            .store
            .transaction(|tx| update(tx, company.provider_id, company.id, &command, &context))?;
        Ok(Output { notes: note.into_iter().collect(), ..output(workplace, &company, &settings)? })
    }
}

impl Runnable for Show {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let company = self.company_id.company(workplace)?;
        let settings = workplace.store.snapshot(|reads| reads.saml(company.id))?;
        output(workplace, &company, &settings)
    }
}

fn output(workplace: &Workplace, company: &Company, it: &SamlSettings) -> Result<Output, CommandError> {
    let service_url = &workplace.settings.service_url;
    let unset = |it: Option<&str>| it.unwrap_or("not set").to_owned();
    let ends = it.idp_certificate.as_ref().map(|it| it.expires_at().to_string());
    let shown_fields = fields(&[
        ("single sign-on", if it.active { "on" } else { "off" }),
        ("identity provider", &unset(it.idp_id.as_ref().map(EntityId::as_str))),
        ("signs on at", &unset(it.idp_url.as_ref().map(WebUrl::as_str))),
        ("certificate ends", &unset(ends.as_deref())),
    ]);
    let sp = shown::sp_id(service_url, company);
    let text =
        format!("{shown_fields}\n\nTo be entered at the identity provider:\n\nentity id, audience  {sp}");
    let json = shown::saml(service_url, company, it)?;
    Ok(Output { text, json, ..Output::default() })
}

refusals!(UpdateSamlError);
