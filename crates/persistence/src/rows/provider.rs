//! Providers and the answers kept for their repeats.

use diesel::prelude::*;
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord};
use guerdon_domain::ports::StoreError;
use guerdon_domain::providers::Provider;
use guerdon_domain::values::ProviderId;

use super::Reading;
use crate::rows::schema::{idempotency_records, providers};
use crate::rows::types::{At, Id};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = providers, treat_none_as_default_value = false)]
pub(crate) struct ProviderRow {
    id: Id,
    name: String,
    api_key: String,
    api_secret_hash: Vec<u8>,
    shared_secret_sealed: Vec<u8>,
    callback_url: Option<String>,
    manages_all_domain_resources: bool,
    suspended: bool,
    created_at: At,
    updated_at: At,
}

impl ProviderRow {
    pub(crate) fn of(it: &Provider) -> Self {
        Self {
            id: Id(it.id.as_uuid()),
            name: it.name.clone(),
            api_key: it.api_key.clone(),
            api_secret_hash: it.api_secret_hash.clone(),
            shared_secret_sealed: it.shared_secret_sealed.clone(),
            callback_url: it.callback_url.clone(),
            manages_all_domain_resources: it.manages_all_domain_resources,
            suspended: it.suspended,
            created_at: At(it.created_at),
            updated_at: At(it.created_at),
        }
    }

    pub(crate) fn read(self) -> Provider {
        Provider {
            id: ProviderId::from_uuid(self.id.0),
            name: self.name,
            api_key: self.api_key,
            api_secret_hash: self.api_secret_hash,
            shared_secret_sealed: self.shared_secret_sealed,
            callback_url: self.callback_url,
            manages_all_domain_resources: self.manages_all_domain_resources,
            suspended: self.suspended,
            created_at: self.created_at.0,
        }
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = idempotency_records, treat_none_as_default_value = false)]
pub(crate) struct IdempotencyRow {
    scope: Id,
    idempotency_key: String,
    request_hash: Vec<u8>,
    status: i16,
    body: Vec<u8>,
    created_at: At,
    expires_at: At,
}

impl IdempotencyRow {
    pub(crate) fn of(it: &IdempotencyRecord) -> Self {
        Self {
            scope: Id(it.key.scope),
            idempotency_key: it.key.key.clone(),
            request_hash: it.request_hash.clone(),
            status: i16::try_from(it.status).unwrap_or(i16::MAX),
            body: it.body.clone(),
            created_at: At(it.created_at),
            expires_at: At(it.expires_at),
        }
    }

    pub(crate) fn read(self) -> Result<IdempotencyRecord, StoreError> {
        let reading = Reading { table: "idempotency_records", id: self.scope.0 };
        Ok(IdempotencyRecord {
            key: IdempotencyKey { scope: self.scope.0, key: self.idempotency_key },
            request_hash: self.request_hash,
            status: reading.make("status", u16::try_from(self.status).ok())?,
            body: self.body,
            created_at: self.created_at.0,
            expires_at: self.expires_at.0,
        })
    }
}
