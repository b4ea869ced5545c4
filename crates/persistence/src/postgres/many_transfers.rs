//! Many transfers of one cause on PostgreSQL, as one statement whose text never changes: the columns as arrays.

use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, SmallInt};
use guerdon_domain::ports::Payment;
use guerdon_domain::wallets::Account;

use crate::rows::Leg;
use crate::rows::types::{At, Id, Identifier, Moment};

const INSERT: &str = "INSERT INTO transfers (cause_id, leg, company_id, debit_owner, debit_kind, debit_place, \
    credit_owner, credit_kind, credit_place, amount, points, points_per_dollar, reason, created_at) \
    SELECT $1, leg, $2, debit_owner, debit_kind, debit_place, credit_owner, credit_kind, credit_place, amount, \
    points, $3, reason, $4 FROM unnest($5::integer[], $6::uuid[], $7::smallint[], \
    $8::bigint[], $9::uuid[], $10::smallint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::smallint[]) \
    AS legs (leg, debit_owner, debit_kind, debit_place, credit_owner, credit_kind, credit_place, amount, points, \
    reason)";

/// Adds the transfers of a payment.
pub(crate) fn insert_many(
    conn: &mut PgConnection,
    payment: &Payment<'_>,
    legs: &[Leg],
) -> QueryResult<usize> {
    let owners = |end: fn(&Leg) -> Account| legs.iter().map(|it| Id(end(it).owner())).collect::<Vec<Id>>();
    let kinds = |end: fn(&Leg) -> Account| legs.iter().map(|it| end(it).kind().code()).collect::<Vec<i16>>();
    let numbers = |of: fn(&Leg) -> i64| legs.iter().map(of).collect::<Vec<i64>>();
    diesel::sql_query(INSERT)
        .bind::<Identifier, _>(Id(payment.cause))
        .bind::<Identifier, _>(Id(payment.company))
        .bind::<Integer, _>(crate::rows::rate_column(payment.rate))
        .bind::<Moment, _>(At(payment.at))
        .bind::<Array<Integer>, _>(legs.iter().map(|it| it.number).collect::<Vec<i32>>())
        .bind::<Array<Identifier>, _>(owners(|it| it.debit.0))
        .bind::<Array<SmallInt>, _>(kinds(|it| it.debit.0))
        .bind::<Array<BigInt>, _>(numbers(|it| it.debit.1))
        .bind::<Array<Identifier>, _>(owners(|it| it.credit.0))
        .bind::<Array<SmallInt>, _>(kinds(|it| it.credit.0))
        .bind::<Array<BigInt>, _>(numbers(|it| it.credit.1))
        .bind::<Array<BigInt>, _>(numbers(|it| it.amount))
        .bind::<Array<BigInt>, _>(numbers(|it| it.points.get()))
        .bind::<Array<SmallInt>, _>(legs.iter().map(|it| it.reason.code()).collect::<Vec<i16>>())
        .execute(conn)
}
