//! The current state of audited settings, as digests. An audit entry stores the digest of the state that its
//! action left, so that `verify` notices a change that no entry explains.

use diesel::prelude::*;
use guerdon_domain::values::{CompanyId, OccasionId, ProviderId, ScheduleId};

use super::schema::{companies, occasions, providers, saml_settings, schedules};
use super::seals::{BEGINNING, Chain};
use super::types::{At, Id};

/// An object whose changes are audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Subject {
    Provider(Id<ProviderId>),
    /// A company's options.
    Options(Id<CompanyId>),
    /// A company's single sign-on settings.
    Saml(Id<CompanyId>),
    Schedule(Id<ScheduleId>),
    GlobalOccasion(Id<OccasionId>),
}

/// The content of the audited columns of a row.
pub(crate) trait State {
    fn chain_to(&self, chain: &mut Chain);

    fn digest(&self) -> Vec<u8> {
        let mut chain = Chain::after(BEGINNING);
        self.chain_to(&mut chain);
        chain.finish().to_vec()
    }
}

fn text(it: &Option<String>) -> Option<&[u8]> {
    it.as_deref().map(str::as_bytes)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = providers)]
pub(crate) struct ProviderState {
    name: String,
    api_key: String,
    api_secret_hash: Vec<u8>,
    shared_secret_sealed: Vec<u8>,
    callback_url: Option<String>,
    manages_all_domain_resources: bool,
    suspended: bool,
}

impl State for ProviderState {
    fn chain_to(&self, chain: &mut Chain) {
        chain.bytes(Some(self.name.as_bytes()));
        chain.bytes(Some(self.api_key.as_bytes()));
        chain.bytes(Some(&self.api_secret_hash));
        chain.bytes(Some(&self.shared_secret_sealed));
        chain.bytes(text(&self.callback_url));
        chain.number(self.manages_all_domain_resources);
        chain.number(self.suspended);
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = companies)]
pub(crate) struct OptionsState {
    allow_zero_points: bool,
}

impl State for OptionsState {
    fn chain_to(&self, chain: &mut Chain) {
        chain.number(self.allow_zero_points);
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

impl State for SamlState {
    fn chain_to(&self, chain: &mut Chain) {
        chain.bytes(text(&self.idp_id));
        chain.bytes(text(&self.idp_url));
        chain.bytes(text(&self.idp_certificate));
        chain.number(self.active);
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

impl State for ScheduleState {
    fn chain_to(&self, chain: &mut Chain) {
        chain.bytes(Some(self.company_id.0.as_ref()));
        chain.number(self.wallet);
        chain.number(self.points);
        chain.number(self.period);
        chain.bytes(Some(self.start_on.as_bytes()));
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
    deleted_at: Option<At>,
}

impl State for OccasionState {
    fn chain_to(&self, chain: &mut Chain) {
        chain.bytes(Some(self.name.as_bytes()));
        chain.bytes(Some(self.title.as_bytes()));
        chain.bytes(Some(self.default_message.as_bytes()));
        chain.number(self.enabled);
        chain.number(self.visible);
        chain.number(self.deleted_at.map_or(0, |at| at.0.unix_micros()));
    }
}
