//! The current state of audited settings, as digests. An audit entry stores the digest of the state that its
//! action left, so that `verify` notices a change that no entry explains.

use diesel::prelude::*;
use guerdon_domain::values::{CompanyId, OccasionId, ProviderId, ScheduleId};

use super::schema::{companies, occasions, providers, saml_settings, schedules};
use super::seals::{FIRST_HEAD, SealChain};
use super::{DbTimestamp, Id};

/// An object whose changes are audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum AuditedSubject {
    Provider(Id<ProviderId>),
    /// A company's options.
    Options(Id<CompanyId>),
    /// A company's single sign-on settings.
    Saml(Id<CompanyId>),
    Schedule(Id<ScheduleId>),
    GlobalOccasion(Id<OccasionId>),
}

/// The content of the audited columns of a row.
pub(crate) trait AuditedState {
    fn chain_to(&self, chain: &mut SealChain);

    fn state_digest(&self) -> Vec<u8> {
        let mut chain = SealChain::continue_from(FIRST_HEAD);
        self.chain_to(&mut chain);
        chain.finish().to_vec()
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = providers)]
pub(crate) struct ProviderState {
    name: String,
    api_key: String,
    api_secret_hash: Vec<u8>,
    encrypted_shared_secret: Vec<u8>,
    former_api_secret_hash: Option<Vec<u8>>,
    former_api_secret_until: Option<DbTimestamp>,
    former_encrypted_shared_secret: Option<Vec<u8>>,
    former_shared_secret_until: Option<DbTimestamp>,
    callback_url: Option<String>,
    manages_all_domain_resources: bool,
    suspended: bool,
}

impl AuditedState for ProviderState {
    fn chain_to(&self, chain: &mut SealChain) {
        chain.add_bytes(Some(&self.name));
        chain.add_bytes(Some(&self.api_key));
        chain.add_bytes(Some(&self.api_secret_hash));
        chain.add_bytes(Some(&self.encrypted_shared_secret));
        for (secret, until) in [
            (&self.former_api_secret_hash, &self.former_api_secret_until),
            (&self.former_encrypted_shared_secret, &self.former_shared_secret_until),
        ] {
            chain.add_bytes(secret.as_ref());
            chain.add_number(until.as_ref().map_or(0, |until| until.0.unix_micros()));
        }
        chain.add_bytes(self.callback_url.as_deref());
        chain.add_number(self.manages_all_domain_resources);
        chain.add_number(self.suspended);
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = companies)]
pub(crate) struct OptionsState {
    allow_zero_points: bool,
}

impl AuditedState for OptionsState {
    fn chain_to(&self, chain: &mut SealChain) {
        chain.add_number(self.allow_zero_points);
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = saml_settings)]
pub(crate) struct SamlState {
    idp_id: Option<String>,
    idp_url: Option<String>,
    idp_certificate: Option<String>,
    active: bool,
}

impl AuditedState for SamlState {
    fn chain_to(&self, chain: &mut SealChain) {
        chain.add_bytes(self.idp_id.as_deref());
        chain.add_bytes(self.idp_url.as_deref());
        chain.add_bytes(self.idp_certificate.as_deref());
        chain.add_number(self.active);
    }
}

/// The columns of a schedule that never change.
#[derive(Queryable, Selectable)]
#[diesel(table_name = schedules)]
pub(crate) struct ScheduleState {
    company_id: Id<CompanyId>,
    wallet: i16,
    points: i64,
    period: i16,
    start_on: String,
}

impl AuditedState for ScheduleState {
    fn chain_to(&self, chain: &mut SealChain) {
        chain.add_bytes(Some(self.company_id.0));
        chain.add_number(self.wallet);
        chain.add_number(self.points);
        chain.add_number(self.period);
        chain.add_bytes(Some(&self.start_on));
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = occasions)]
pub(crate) struct OccasionState {
    name: String,
    title: String,
    default_message: String,
    enabled: bool,
    visible: bool,
    deleted_at: Option<DbTimestamp>,
}

impl AuditedState for OccasionState {
    fn chain_to(&self, chain: &mut SealChain) {
        chain.add_bytes(Some(&self.name));
        chain.add_bytes(Some(&self.title));
        chain.add_bytes(Some(&self.default_message));
        chain.add_number(self.enabled);
        chain.add_number(self.visible);
        chain.add_number(self.deleted_at.map_or(0, |at| at.0.unix_micros()));
    }
}
