//! Responses stored for retries.

use diesel::prelude::*;
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CompanyId, checked_cast};

use super::schema::idempotency_records;
use super::{DbTimestamp, Id, RowReader, declare_row};

declare_row! {
    #[derive(Queryable, Selectable, Insertable)]
    struct IdempotencyRow in idempotency_records {
        scope: Id,
        idempotency_key: String,
        company_id: Option<Id<CompanyId>>,
        request_hash: Vec<u8>,
        status: i16,
        body: Vec<u8>,
        created_at: DbTimestamp,
        expires_at: DbTimestamp,
    }
}

impl IdempotencyRow {
    pub(crate) fn from_record(record: &IdempotencyRecord) -> Self {
        Self {
            scope: Id(record.key.scope),
            idempotency_key: record.key.key.clone(),
            company_id: record.company_id.map(Id),
            request_hash: record.request_hash.clone(),
            status: checked_cast(record.status),
            body: record.body.clone(),
            created_at: DbTimestamp(record.created_at),
            expires_at: DbTimestamp(record.expires_at),
        }
    }

    pub(crate) fn into_record(self) -> Result<IdempotencyRecord, StoreError> {
        let reader = RowReader { table: "idempotency_records", id: &self.scope.0 };
        Ok(IdempotencyRecord {
            key: IdempotencyKey { scope: self.scope.0, key: self.idempotency_key },
            company_id: self.company_id.map(|id| id.0),
            request_hash: self.request_hash,
            status: reader.require_valid("status", u16::try_from(self.status).ok())?,
            body: self.body,
            created_at: self.created_at.0,
            expires_at: self.expires_at.0,
        })
    }
}
