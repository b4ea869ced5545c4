//! Responses stored for retries.

use diesel::prelude::*;
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::fit;

use super::Reading;
use super::columns::row;
use super::schema::idempotency_records;
use super::types::{At, Id};

row! {
    #[derive(Queryable, Selectable, Insertable)]
    struct IdempotencyRow in idempotency_records {
        scope: Id,
        idempotency_key: String,
        request_hash: Vec<u8>,
        status: i16,
        body: Vec<u8>,
        created_at: At,
        expires_at: At,
    }
}

impl IdempotencyRow {
    pub(crate) fn of(it: &IdempotencyRecord) -> Self {
        Self {
            scope: Id(it.key.scope),
            idempotency_key: it.key.key.clone(),
            request_hash: it.request_hash.clone(),
            status: fit(it.status),
            body: it.body.clone(),
            created_at: At(it.created_at),
            expires_at: At(it.expires_at),
        }
    }

    pub(crate) fn read(self) -> Result<IdempotencyRecord, StoreError> {
        let reading = Reading { table: "idempotency_records", id: &self.scope.0 };
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
