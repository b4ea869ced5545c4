//! Responses stored for retries.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord};
use guerdon_domain::ports::{Idempotency, StoreError, Timestamp};

use super::{Unit, lock_companies_and_claim_keys, placeholder};
use crate::engine::Locking;
use crate::rows::schema::idempotency_records;
use crate::rows::{DbTimestamp, Id, IdempotencyRow, SqlTimestamp};

impl Idempotency for Unit<'_> {
    fn claim_idempotency_key(&mut self, key: &IdempotencyKey) -> Result<bool, StoreError> {
        let keys = std::slice::from_ref(key);
        let (_, claimed) =
            self.query(|conn| lock_companies_and_claim_keys(conn, &[], keys, Locking::Skip))?;
        Ok(!claimed.is_empty())
    }

    fn find_idempotency_record(
        &mut self,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        self.find(IdempotencyRow::into_record, |conn| {
            idempotency_records::table
                .find((Id(key.scope), &key.key))
                .filter(idempotency_records::expires_at.gt(DbTimestamp(now)))
                .select(IdempotencyRow::as_select())
                .get_result(conn)
        })
    }

    fn store_idempotency_record(&mut self, record: &IdempotencyRecord) -> Result<(), StoreError> {
        let row = IdempotencyRow::from_record(record);
        let insert = |conn: &mut super::Conn| {
            diesel::insert_into(idempotency_records::table)
                .values(&row)
                .on_conflict_do_nothing()
                .execute(conn)
        };
        if self.query(insert)? == 0 {
            let expired = idempotency_records::table
                .find((Id(record.key.scope), &record.key.key))
                .filter(idempotency_records::expires_at.le(DbTimestamp(record.created_at)));
            self.query(|conn| diesel::delete(expired).execute(conn))?;
            if self.query(insert)? == 0 {
                return self.record_failure(Err(StoreError::Busy));
            }
        }
        Ok(())
    }

    fn prune_idempotency_records(&mut self, now: Timestamp, limit: i64) -> Result<usize, StoreError> {
        let (now, [first, second, third]) = (DbTimestamp(now), [1, 2, 3].map(placeholder));
        let prune = format!(
            "DELETE FROM idempotency_records WHERE expires_at <= {first} AND (scope, idempotency_key) IN \
             (SELECT scope, idempotency_key FROM idempotency_records WHERE expires_at <= {second} LIMIT {third})"
        );
        self.query(|conn| {
            diesel::sql_query(&prune)
                .bind::<SqlTimestamp, _>(now)
                .bind::<SqlTimestamp, _>(now)
                .bind::<BigInt, _>(limit)
                .execute(conn)
        })
    }
}
