//! Audit entries.

use std::borrow::Cow;

use diesel::prelude::*;
use guerdon_domain::audit_log::{Action, AuditEntry};
use guerdon_domain::journal::{Actor, By};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CompanyId, ProviderId};

use super::Reading;
use super::schema::audit_entries;
use super::seals::Chain;
use super::states::Subject;
use super::types::{At, Id};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = audit_entries, treat_none_as_default_value = false)]
pub(crate) struct AuditEntryRow<'a> {
    id: Id,
    actor: i16,
    reference: Option<Cow<'a, str>>,
    idempotency_key: Option<Cow<'a, str>>,
    action: i16,
    company_id: Option<Id<CompanyId>>,
    provider_id: Option<Id<ProviderId>>,
    object_id: Option<Id>,
    detail: Cow<'a, str>,
    pub(crate) state_digest: Option<Vec<u8>>,
    created_at: At,
}

impl<'a> AuditEntryRow<'a> {
    pub(crate) fn of(it: &'a AuditEntry) -> Self {
        Self {
            id: Id(it.id),
            actor: it.by.actor.code(),
            reference: it.by.reference.as_deref().map(Cow::Borrowed),
            idempotency_key: it.by.key.as_deref().map(Cow::Borrowed),
            action: it.action.code(),
            company_id: it.company_id.map(Id),
            provider_id: it.provider_id.map(Id),
            object_id: it.object_id.map(Id),
            detail: Cow::Borrowed(&it.detail),
            state_digest: None,
            created_at: At(it.at),
        }
    }

    pub(crate) fn id(&self) -> Id {
        self.id
    }

    /// Chains the whole row.
    pub(crate) fn chain_to(&self, chain: &mut Chain) {
        fn id<T: AsRef<[u8]>>(it: &Option<Id<T>>) -> Option<&[u8]> {
            it.as_ref().map(|id| id.0.as_ref())
        }
        chain.bytes(Some(self.id.0.as_ref()));
        chain.number(self.actor);
        chain.bytes(self.reference.as_deref().map(str::as_bytes));
        chain.bytes(self.idempotency_key.as_deref().map(str::as_bytes));
        chain.number(self.action);
        chain.bytes(id(&self.company_id));
        chain.bytes(id(&self.provider_id));
        chain.bytes(id(&self.object_id));
        chain.bytes(Some(self.detail.as_bytes()));
        chain.bytes(self.state_digest.as_deref());
        chain.number(self.created_at.0.unix_micros());
    }

    /// The subject of the entry's state digest; `None` for actions that leave no state.
    pub(crate) fn subject(&self) -> Option<Subject> {
        Some(match Action::from_code(self.action)? {
            Action::ProviderCreated | Action::ProviderChanged | Action::SecretRotated => {
                Subject::Provider(self.provider_id?)
            }
            Action::OptionsSet => Subject::Options(self.company_id?),
            Action::SamlChanged => Subject::Saml(self.company_id?),
            Action::ScheduleCreated => Subject::Schedule(Id(self.object_id?.0.into())),
            Action::GlobalOccasionCreated | Action::GlobalOccasionChanged | Action::GlobalOccasionDeleted => {
                Subject::GlobalOccasion(Id(self.object_id?.0.into()))
            }
            _ => return None,
        })
    }

    pub(crate) fn read(self) -> Result<AuditEntry, StoreError> {
        let reading = Reading { table: "audit_entries", id: &self.id.0 };
        Ok(AuditEntry {
            id: self.id.0,
            at: self.created_at.0,
            by: By {
                actor: reading.make("actor", Actor::from_code(self.actor))?,
                reference: self.reference.map(Cow::into_owned),
                key: self.idempotency_key.map(Cow::into_owned),
            },
            action: reading.make("action", Action::from_code(self.action))?,
            company_id: self.company_id.map(|company_id| company_id.0),
            provider_id: self.provider_id.map(|provider_id| provider_id.0),
            object_id: self.object_id.map(|object_id| object_id.0),
            detail: self.detail.into_owned(),
        })
    }
}
