//! What a set of postings needs, read and held.

use std::collections::BTreeSet;

use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Integer, SmallInt, Text};
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::ledger::AccountBook;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CompanyId, OccasionId, ProviderId, UserId, fit};
use guerdon_domain::wallets::Account;

use super::super::accounts::load_free_accounts;
use super::super::{COMPANY_LOCKS, Conn, Db, advisory_key, classify, digest};
use crate::postings::{Ahead, Facts, Set};
use crate::rows::schema::{companies, occasions, providers, users};
use crate::rows::types::{Id, Identifier, Moment};
use crate::rows::{CompanyRow, IdempotencyRow, OccasionRow, OwnerRow, PersonRow, ProviderRow};
use crate::statement::statement;

statement! {
    /// Keeps companies with their providers, and claims keys, until the transaction ends, where nobody stands against it.
    /// Answers the places of the keys, and below zero those of the companies.
    KeepAndClaim -> BigInt {
        companies: Array<Integer> = Vec<i32>,
        class: Integer = i32,
        keys: Array<BigInt> = Vec<i64>,
    }
    "SELECT -place FROM unnest(?::integer[]) WITH ORDINALITY AS companies (company, place) \
     WHERE pg_try_advisory_xact_lock_shared(?::integer, company) UNION ALL \
     SELECT place FROM unnest(?::bigint[]) WITH ORDINALITY AS keys (key, place) WHERE pg_try_advisory_xact_lock(key)"
}

statement! {
    /// What is kept under some keys.
    Records -> (Identifier, Text, Binary, SmallInt, Binary, Moment, Moment) {
        scopes: Array<Identifier> = Vec<Id>,
        keys: Array<Text> = Vec<String>,
    }
    "SELECT r.scope, r.idempotency_key, request_hash, status, body, created_at, expires_at \
     FROM unnest(?::uuid[], ?::text[]) AS wanted (scope, key) \
     JOIN idempotency_records AS r ON r.scope = wanted.scope AND r.idempotency_key = wanted.key"
}

/// Reads and holds what the postings of a set need, as far as that can be had without waiting for anybody. People are
/// read before their companies are kept with their providers, since a user never changes the company; all else after it.
pub(super) fn gather(conn: &mut PgConnection, ahead: &[&Ahead]) -> Result<Set, StoreError> {
    let mut facts = Facts::default();
    let people: BTreeSet<UserId> =
        ahead.iter().flat_map(|it| it.sender.iter().chain(&it.receivers)).copied().collect();
    let rows: Vec<PersonRow> = ask(users::table
        .filter(users::id.eq_any(ids(&people)))
        .select(PersonRow::as_select())
        .get_results(conn))?;
    for row in rows {
        let person = row.read()?;
        facts.people.insert(person.id, person);
    }
    let in_which: BTreeSet<CompanyId> = ahead
        .iter()
        .filter_map(|it| it.company)
        .chain(facts.people.values().map(|it| it.company_id))
        .collect();
    let keys: Vec<IdempotencyKey> = ahead.iter().filter_map(|it| it.key.clone()).collect();
    let in_which: Vec<CompanyId> = in_which.into_iter().collect();
    let locks = KeepAndClaim {
        companies: in_which.iter().map(|it| advisory_key(it.as_uuid())).collect(),
        class: COMPANY_LOCKS,
        keys: keys.iter().map(digest).collect(),
    };
    let places: Vec<i64> = ask(locks.get_results(conn))?;
    let named = |place: i64| -> usize { fit(place - 1) };
    let claimed = places.iter().filter(|it| **it > 0).filter_map(|it| keys.get(named(*it)));
    facts.claimed = claimed.cloned().collect();
    let kept = places.iter().filter(|it| **it < 0).filter_map(|it| in_which.get(named(-*it)));
    read_companies(conn, &kept.copied().collect(), &mut facts)?;
    read_occasions(conn, &ahead.iter().filter_map(|it| it.occasion).collect(), &mut facts)?;
    read_records(conn, &keys, &mut facts)?;
    let accounts: BTreeSet<Account> = ahead.iter().flat_map(|it| &it.accounts).copied().collect();
    let mut book = AccountBook::default();
    ask(load_free_accounts(conn, &accounts.into_iter().collect::<Vec<_>>(), &mut book))?;
    Ok(Set::new(facts, book))
}

fn ask<T>(answer: QueryResult<T>) -> Result<T, StoreError> {
    answer.map_err(|e| classify(&e))
}

fn ids<T: Copy>(all: &BTreeSet<T>) -> Vec<Id<T>> {
    all.iter().copied().map(Id).collect()
}

fn read_companies(
    conn: &mut PgConnection,
    wanted: &BTreeSet<CompanyId>,
    facts: &mut Facts,
) -> Result<(), StoreError> {
    let rows: Vec<(CompanyRow<'static>, OwnerRow, ProviderRow)> = ask(companies::table
        .inner_join(users::table.on(users::id.eq(companies::owner_id)))
        .inner_join(providers::table.on(providers::id.eq(companies::provider_id)))
        .filter(companies::id.eq_any(ids(wanted)))
        .select((CompanyRow::as_select(), OwnerRow::as_select(), ProviderRow::as_select()))
        .get_results(conn))?;
    for (row, owner, provider) in rows {
        let (found, provider) = (row.read(owner)?, provider.read());
        facts.companies.insert(found.company.id, found);
        facts.providers.insert(provider.id, provider);
    }
    Ok(())
}

fn read_occasions(
    conn: &mut PgConnection,
    wanted: &BTreeSet<OccasionId>,
    facts: &mut Facts,
) -> Result<(), StoreError> {
    let rows: Vec<(Option<Id<ProviderId>>, OccasionRow)> = ask(occasions::table
        .left_join(companies::table.on(occasions::company_id.eq(companies::id.nullable())))
        .filter(occasions::id.eq_any(ids(wanted)).and(occasions::deleted_at.is_null()))
        .select((companies::provider_id.nullable(), OccasionRow::as_select()))
        .get_results(conn))?;
    for (owner, row) in rows {
        let occasion = row.read()?;
        facts.occasions.insert(occasion.id, (owner.map(|it| it.0), occasion));
    }
    Ok(())
}

fn read_records(
    conn: &mut PgConnection,
    keys: &[IdempotencyKey],
    facts: &mut Facts,
) -> Result<(), StoreError> {
    if keys.is_empty() {
        return Ok(());
    }
    let records = Records {
        scopes: keys.iter().map(|it| Id(it.scope)).collect(),
        keys: keys.iter().map(|it| it.key.clone()).collect(),
    };
    let rows: Vec<IdempotencyRow> = ask(records.get_results(conn))?;
    for row in rows {
        let record = row.read()?;
        facts.records.insert(record.key.clone(), record);
    }
    Ok(())
}
