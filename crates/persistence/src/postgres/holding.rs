//! Locks companies and claims idempotency keys until the transaction ends. Both use advisory locks: companies
//! must not be written for each payment, and the row of a key does not exist before its first use.

use diesel::dsl::AsSelect;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Text};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::values::{CompanyId, fit};

use super::{COMPANY_LOCKS, Conn, Db, Hold, advisory_key, digest, hold_company};
use crate::engine::Locking;
use crate::rows::types::{Id, Identifier};
use crate::rows::{IdempotencyRow, Row};
use crate::statement::statement;

statement! {
    /// Locks companies whose provider is not being changed, and claims keys that no other transaction has
    /// claimed. Returns the positions of the keys in their list, and those of the companies as negative
    /// numbers.
    TryHoldAndClaim -> BigInt {
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
    Records -> AsSelect<IdempotencyRow, Db> {
        scopes: Array<Identifier> = Vec<Id>,
        keys: Array<Text> = Vec<String>,
    }
    "SELECT ", IdempotencyRow::COLUMN_NAMES, " FROM unnest(?::uuid[], ?::text[]) AS wanted (wanted_scope, wanted_key) \
     JOIN idempotency_records ON scope = wanted_scope AND idempotency_key = wanted_key"
}

/// Locks companies against a change of their provider, and claims idempotency keys. Claiming never waits;
/// locking companies waits only with [`Locking::Wait`]. Returns the locked companies and the claimed keys.
pub(crate) fn hold_companies_and_claim_keys(
    conn: &mut Conn,
    companies: &[CompanyId],
    keys: &[IdempotencyKey],
    locking: Locking,
) -> QueryResult<(Vec<CompanyId>, Vec<IdempotencyKey>)> {
    let mut held = Vec::new();
    let mut tried = companies;
    if locking == Locking::Wait {
        for company in companies {
            hold_company(conn, *company, Hold::Shared)?;
        }
        (held, tried) = (companies.to_vec(), &[]);
    }
    if tried.is_empty() && keys.is_empty() {
        return Ok((held, Vec::new()));
    }
    let statement = TryHoldAndClaim {
        companies: tried.iter().map(|company| advisory_key(company.as_uuid())).collect(),
        class: COMPANY_LOCKS,
        keys: keys.iter().map(digest).collect(),
    };
    let places: Vec<i64> = statement.get_results(conn)?;
    let index = |place: i64| -> usize { fit(place - 1) };
    held.extend(places.iter().filter(|place| **place < 0).filter_map(|place| tried.get(index(-*place))));
    let claimed =
        places.iter().filter(|place| **place > 0).filter_map(|place| keys.get(index(*place)).cloned());
    Ok((held, claimed.collect()))
}

/// The records of keys, including expired ones.
pub(crate) fn load_records(conn: &mut Conn, keys: &[IdempotencyKey]) -> QueryResult<Vec<IdempotencyRow>> {
    let records = Records {
        scopes: keys.iter().map(|key| Id(key.scope)).collect(),
        keys: keys.iter().map(|key| key.key.clone()).collect(),
    };
    records.get_results(conn)
}
