//! Audit entries.

use std::borrow::Cow;

use diesel::prelude::*;
use guerdon_domain::audit_log::{Action, AuditEntry};
use guerdon_domain::journal::{Actor, Requester};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CompanyId, ProviderId};

use super::audited_states::AuditedSubject;
use super::schema::audit_entries;
use super::seals::SealChain;
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = audit_entries, treat_none_as_default_value = false)]
pub(crate) struct AuditEntryRow<'a> {
    pub(crate) id: Id,
    actor: i16,
    reference: Option<Cow<'a, str>>,
    idempotency_key: Option<Cow<'a, str>>,
    action: i16,
    company_id: Option<Id<CompanyId>>,
    provider_id: Option<Id<ProviderId>>,
    object_id: Option<Id>,
    detail: Cow<'a, str>,
    pub(crate) state_digest: Option<Vec<u8>>,
    created_at: DbTimestamp,
}

impl<'a> AuditEntryRow<'a> {
    pub(crate) fn from_entry(entry: &'a AuditEntry) -> Self {
        Self {
            id: Id(entry.id),
            actor: entry.requester.actor.code(),
            reference: entry.requester.reference.as_deref().map(Cow::Borrowed),
            idempotency_key: entry.requester.key.as_deref().map(Cow::Borrowed),
            action: entry.action.code(),
            company_id: entry.company_id.map(Id),
            provider_id: entry.provider_id.map(Id),
            object_id: entry.object_id.map(Id),
            detail: Cow::Borrowed(&entry.detail),
            state_digest: None,
            created_at: DbTimestamp(entry.at),
        }
    }

    /// Adds the whole row to the hash chain.
    pub(crate) fn chain_to(&self, chain: &mut SealChain) {
        let Self {
            id,
            actor,
            reference,
            idempotency_key,
            action,
            company_id,
            provider_id,
            object_id,
            detail,
            state_digest,
            created_at,
        } = self;
        chain.add_bytes(Some(id.0));
        chain.add_number(*actor);
        chain.add_bytes(reference.as_deref());
        chain.add_bytes(idempotency_key.as_deref());
        chain.add_number(*action);
        chain.add_bytes(company_id.map(|company_id| company_id.0));
        chain.add_bytes(provider_id.map(|provider_id| provider_id.0));
        chain.add_bytes(object_id.map(|object_id| object_id.0));
        chain.add_bytes(Some(detail.as_bytes()));
        chain.add_bytes(state_digest.as_deref());
        chain.add_number(created_at.0.unix_micros());
    }

    /// The subject of the entry's state digest; `None` for actions that leave no state.
    pub(crate) fn state_subject(&self) -> Option<AuditedSubject> {
        Some(match Action::from_code(self.action)? {
            Action::ProviderCreated | Action::ProviderChanged | Action::SecretRotated => {
                AuditedSubject::Provider(self.provider_id?)
            }
            Action::OptionsSet => AuditedSubject::Options(self.company_id?),
            Action::SamlChanged => AuditedSubject::Saml(self.company_id?),
            Action::ScheduleCreated => AuditedSubject::Schedule(Id(self.object_id?.0.into())),
            Action::GlobalOccasionCreated | Action::GlobalOccasionChanged | Action::GlobalOccasionDeleted => {
                AuditedSubject::GlobalOccasion(Id(self.object_id?.0.into()))
            }
            _ => return None,
        })
    }

    pub(crate) fn into_audit_entry(self) -> Result<AuditEntry, StoreError> {
        let reader = RowReader { table: "audit_entries", id: &self.id.0 };
        Ok(AuditEntry {
            id: self.id.0,
            at: self.created_at.0,
            requester: Requester {
                actor: reader.require_valid("actor", Actor::from_code(self.actor))?,
                reference: self.reference.map(Cow::into_owned),
                key: self.idempotency_key.map(Cow::into_owned),
            },
            action: reader.require_valid("action", Action::from_code(self.action))?,
            company_id: self.company_id.map(|company_id| company_id.0),
            provider_id: self.provider_id.map(|provider_id| provider_id.0),
            object_id: self.object_id.map(|object_id| object_id.0),
            detail: self.detail.into_owned(),
        })
    }
}
