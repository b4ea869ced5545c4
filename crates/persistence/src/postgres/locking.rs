//! Locks companies and claims idempotency keys until the transaction ends. Both use advisory locks: a row
//! lock would write the row of the company for each payment, and the row of a key does not exist before its
//! first use.

use diesel::dsl::AsSelect;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Text};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::values::{CompanyId, checked_cast};

use super::{COMPANY_LOCKS, Conn, Db, advisory_lock_key, hash_key, lock_company_provider};
use crate::engine::{LockMode, Locking};
use crate::rows::{DeclaredRow, Id, IdempotencyRow, Identifier};
use crate::statement::statement;

statement! {
    /// Locks companies whose provider is not being changed, and claims keys that no other transaction has
    /// claimed. Returns positions in the two lists, starting at 1: of the claimed keys as positive numbers,
    /// and of the locked companies as negative numbers.
    TryLockAndClaim -> BigInt {
        companies: Array<Integer> = Vec<i32>,
        class: Integer = i32,
        keys: Array<BigInt> = Vec<i64>,
    }
    "SELECT -place FROM unnest(?::integer[]) WITH ORDINALITY AS companies (company, place) \
     WHERE pg_try_advisory_xact_lock_shared(?::integer, company) UNION ALL \
     SELECT place FROM unnest(?::bigint[]) WITH ORDINALITY AS keys (key, place) WHERE pg_try_advisory_xact_lock(key)"
}

statement! {
    /// The records of some keys.
    LoadRecords -> AsSelect<IdempotencyRow, Db> {
        scopes: Array<Identifier> = Vec<Id>,
        keys: Array<Text> = Vec<String>,
    }
    "SELECT ", IdempotencyRow::COLUMN_NAMES, " FROM unnest(?::uuid[], ?::text[]) AS wanted (wanted_scope, wanted_key) \
     JOIN idempotency_records ON scope = wanted_scope AND idempotency_key = wanted_key"
}

/// Locks companies against a change of their provider, and claims idempotency keys. Claiming never waits;
/// locking companies waits only with [`Locking::Wait`]. Returns the locked companies and the claimed keys.
pub(crate) fn lock_companies_and_claim_keys(
    conn: &mut Conn,
    companies: &[CompanyId],
    keys: &[IdempotencyKey],
    locking: Locking,
) -> QueryResult<(Vec<CompanyId>, Vec<IdempotencyKey>)> {
    let mut locked = Vec::new();
    let mut tried = companies;
    if locking == Locking::Wait {
        for company in companies {
            lock_company_provider(conn, *company, LockMode::Shared)?;
        }
        (locked, tried) = (companies.to_vec(), &[]);
    }
    if tried.is_empty() && keys.is_empty() {
        return Ok((locked, Vec::new()));
    }
    let statement = TryLockAndClaim {
        companies: tried.iter().map(|company| advisory_lock_key(company.as_uuid())).collect(),
        class: COMPANY_LOCKS,
        keys: keys.iter().map(hash_key).collect(),
    };
    let positions: Vec<i64> = statement.get_results(conn)?;
    let index = |position: i64| -> usize { checked_cast(position - 1) };
    locked.extend(
        positions
            .iter()
            .filter(|position| **position < 0)
            .filter_map(|position| tried.get(index(-*position))),
    );
    let claimed = positions
        .iter()
        .filter(|position| **position > 0)
        .filter_map(|position| keys.get(index(*position)).cloned());
    Ok((locked, claimed.collect()))
}

/// The records of keys, including expired ones.
pub(crate) fn load_records(conn: &mut Conn, keys: &[IdempotencyKey]) -> QueryResult<Vec<IdempotencyRow>> {
    let records = LoadRecords {
        scopes: keys.iter().map(|key| Id(key.scope)).collect(),
        keys: keys.iter().map(|key| key.key.clone()).collect(),
    };
    records.get_results(conn)
}
