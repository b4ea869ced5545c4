//! Changing SAML settings.

use crate::model::{Action, Company, SamlSettings};
use crate::ports::{AuditLog, Context, Denied, LockableRow, Locks, ReadCompanies, Saml, StoreError};
use crate::values::{CompanyId, EntityId, PemCertificate, ProviderId, Update, WebUrl};

/// The changes to make. Fields that are `None` or `Keep` do not change.
#[derive(Debug, Clone, Default)]
pub struct UpdateSaml {
    /// The identity provider's entity identifier.
    pub idp_id: Update<EntityId>,
    /// The sign-on URL of the identity provider.
    pub idp_url: Update<WebUrl>,
    pub idp_certificate: Update<PemCertificate>,
    /// Whether single sign-on is active.
    pub active: Option<bool>,
}

/// Why the settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateSamlError {
    /// The company cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Active settings need all three fields.
    #[error("active must be false unless idp_id, idp_url and idp_certificate are all set")]
    Incomplete,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes the settings of a company. Returns the company and its new settings.
pub fn update<T: AuditLog + Locks + ReadCompanies + Saml + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: CompanyId,
    update: &UpdateSaml,
    context: &Context<'_>,
) -> Result<(Company, SamlSettings), UpdateSamlError> {
    tx.lock_row(LockableRow::Company(id))?;
    let company = tx.find_company(scope, id)?.or_denied("id")?.company;
    let before = tx.saml_settings(id)?;
    let mut settings = before.clone();
    update.idp_id.apply_to_field(&mut settings.idp_id);
    update.idp_url.apply_to_field(&mut settings.idp_url);
    update.idp_certificate.apply_to_field(&mut settings.idp_certificate);
    settings.active = update.active.unwrap_or(before.active);
    if settings.active && !settings.is_complete() {
        return Err(UpdateSamlError::Incomplete);
    }
    if settings != before {
        tx.store_saml_settings(id, &settings, context.clock.now())?;
        let entry = context.new_audit_entry(Action::SamlChanged).with_company(id).with_provider(scope);
        tx.record_audit_entry(&entry.with_detail(describe_change(&before, &settings)))?;
    }
    Ok((company, settings))
}

/// The details of a change for the audit log.
fn describe_change(before: &SamlSettings, after: &SamlSettings) -> String {
    let changed = [
        (before.idp_id != after.idp_id, "idp_id"),
        (before.idp_url != after.idp_url, "idp_url"),
        (before.idp_certificate != after.idp_certificate, "idp_certificate"),
    ];
    let mut parts: Vec<&str> = changed.iter().filter(|field| field.0).map(|field| field.1).collect();
    parts.push(if after.active { "active" } else { "not active" });
    parts.join(", ")
}
