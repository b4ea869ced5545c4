//! What a set of postings comes to, written by one statement.

use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, SmallInt, Text};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CauseId, CompanyId, EventId, OccasionId, ProviderId, RecognitionId, UserId};

use super::super::{Conn, Db, classify};
use crate::postings::Set;
use crate::rows::types::{At, Id, Identifier, Moment};
use crate::rows::{CauseRow, DeliveryRow, EventRow, IdempotencyRow, NewRecognitionRow, TransferRow};
use crate::statement::statement;

/// The accounts are held already, so that none of this waits for anybody.
const WRITE: &str = "WITH a AS ( \
    UPDATE accounts AS a SET balance = new.balance, spent = new.spent, movements = new.movements, \
      made_up = new.made_up \
    FROM unnest(?::uuid[], ?::smallint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS new (owner_id, kind, balance, spent, movements, made_up) \
    WHERE a.owner_id = new.owner_id AND a.kind = new.kind \
  ), c AS ( \
    INSERT INTO causes (id, company_id, provider_id, kind, actor, reference, idempotency_key, points_per_dollar, \
      points, legs, subject_id, occasion_id, share, message, created_at) \
    SELECT * FROM unnest(?::uuid[], ?::uuid[], ?::uuid[], ?::smallint[], ?::smallint[], ?::text[], ?::text[], \
      ?::integer[], ?::bigint[], ?::integer[], ?::uuid[], ?::uuid[], ?::boolean[], ?::text[], \
      ?::timestamptz[]) \
  ), r AS ( \
    INSERT INTO recognitions (cause_id, leg, id, company_id, sender_id, receiver_id, share, created_at) \
    SELECT * FROM unnest(?::uuid[], ?::integer[], ?::uuid[], ?::uuid[], ?::uuid[], ?::uuid[], ?::boolean[], \
      ?::timestamptz[]) \
  ), t AS ( \
    INSERT INTO transfers (cause_id, leg, company_id, debit_owner, debit_kind, debit_place, credit_owner, \
      credit_kind, credit_place, amount, points, points_per_dollar, reason, created_at) \
    SELECT * FROM unnest(?::uuid[], ?::integer[], ?::uuid[], ?::uuid[], ?::smallint[], ?::bigint[], ?::uuid[], \
      ?::smallint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::integer[], ?::smallint[], \
      ?::timestamptz[]) \
  ), e AS ( \
    INSERT INTO events (id, company_id, provider_id, kind, cause_id, body, created_at) \
    SELECT * FROM unnest(?::uuid[], ?::uuid[], ?::uuid[], ?::smallint[], ?::uuid[], ?::bytea[], ?::timestamptz[]) \
  ), d AS ( \
    INSERT INTO deliveries (event_id, company_id, provider_id, state, attempts, attempts_before_replay, \
      next_attempt_at) \
    SELECT * FROM unnest(?::uuid[], ?::uuid[], ?::uuid[], ?::smallint[], ?::smallint[], ?::smallint[], \
      ?::timestamptz[]) \
  ) \
  INSERT INTO idempotency_records (scope, idempotency_key, request_hash, status, body, created_at, expires_at) \
  SELECT * FROM unnest(?::uuid[], ?::text[], ?::bytea[], ?::smallint[], ?::bytea[], ?::timestamptz[], \
      ?::timestamptz[])";

statement! {
    Write -> Bool {
        account_owner: Array<Identifier> = Vec<Id>,
        account_kind: Array<SmallInt> = Vec<i16>,
        balance: Array<BigInt> = Vec<i64>,
        spent: Array<BigInt> = Vec<i64>,
        movements: Array<BigInt> = Vec<i64>,
        made_up: Array<BigInt> = Vec<i64>,

        cause: Array<Identifier> = Vec<Id<CauseId>>,
        cause_company: Array<Identifier> = Vec<Id<CompanyId>>,
        cause_provider: Array<Identifier> = Vec<Id<ProviderId>>,
        cause_kind: Array<SmallInt> = Vec<i16>,
        actor: Array<SmallInt> = Vec<i16>,
        reference: Array<Nullable<Text>> = Vec<Option<String>>,
        idempotency_key: Array<Nullable<Text>> = Vec<Option<String>>,
        cause_rate: Array<Integer> = Vec<i32>,
        cause_points: Array<BigInt> = Vec<i64>,
        legs: Array<Integer> = Vec<i32>,
        subject: Array<Nullable<Identifier>> = Vec<Option<Id>>,
        occasion: Array<Nullable<Identifier>> = Vec<Option<Id<OccasionId>>>,
        cause_share: Array<Nullable<Bool>> = Vec<Option<bool>>,
        message: Array<Nullable<Text>> = Vec<Option<String>>,
        caused_at: Array<Moment> = Vec<At>,

        sending: Array<Identifier> = Vec<Id<CauseId>>,
        sending_leg: Array<Integer> = Vec<i32>,
        recognition: Array<Identifier> = Vec<Id<RecognitionId>>,
        recognition_company: Array<Identifier> = Vec<Id<CompanyId>>,
        sender: Array<Identifier> = Vec<Id>,
        receiver: Array<Identifier> = Vec<Id<UserId>>,
        share: Array<Bool> = Vec<bool>,
        sent_at: Array<Moment> = Vec<At>,

        paid_for: Array<Identifier> = Vec<Id<CauseId>>,
        leg: Array<Integer> = Vec<i32>,
        transfer_company: Array<Identifier> = Vec<Id<CompanyId>>,
        debit_owner: Array<Identifier> = Vec<Id>,
        debit_kind: Array<SmallInt> = Vec<i16>,
        debit_place: Array<BigInt> = Vec<i64>,
        credit_owner: Array<Identifier> = Vec<Id>,
        credit_kind: Array<SmallInt> = Vec<i16>,
        credit_place: Array<BigInt> = Vec<i64>,
        amount: Array<BigInt> = Vec<i64>,
        points: Array<BigInt> = Vec<i64>,
        rate: Array<Integer> = Vec<i32>,
        reason: Array<SmallInt> = Vec<i16>,
        paid_at: Array<Moment> = Vec<At>,

        event: Array<Identifier> = Vec<Id<EventId>>,
        event_company: Array<Identifier> = Vec<Id<CompanyId>>,
        event_provider: Array<Identifier> = Vec<Id<ProviderId>>,
        event_kind: Array<SmallInt> = Vec<i16>,
        told_cause: Array<Identifier> = Vec<Id<CauseId>>,
        event_body: Array<Binary> = Vec<Vec<u8>>,
        queued_at: Array<Moment> = Vec<At>,

        delivery: Array<Identifier> = Vec<Id<EventId>>,
        delivery_company: Array<Identifier> = Vec<Id<CompanyId>>,
        delivery_provider: Array<Identifier> = Vec<Id<ProviderId>>,
        state: Array<SmallInt> = Vec<i16>,
        attempts: Array<SmallInt> = Vec<i16>,
        attempts_before_replay: Array<SmallInt> = Vec<i16>,
        next_attempt_at: Array<Nullable<Moment>> = Vec<Option<At>>,

        scope: Array<Identifier> = Vec<Id>,
        key: Array<Text> = Vec<String>,
        request_hash: Array<Binary> = Vec<Vec<u8>>,
        status: Array<SmallInt> = Vec<i16>,
        answer: Array<Binary> = Vec<Vec<u8>>,
        answered_at: Array<Moment> = Vec<At>,
        expires_at: Array<Moment> = Vec<At>,
    }
    WRITE
}

/// One column of many rows.
fn column<'a, R, T>(rows: &'a [R], of: impl FnMut(&'a R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

/// Writes what the postings of a set come to.
pub(super) fn write(conn: &mut PgConnection, set: &Set) -> Result<(), StoreError> {
    statement_of(set).execute(conn).map(drop).map_err(|e| classify(&e))
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

#[expect(clippy::too_many_lines, reason = "one line for each column that is written")]
fn statement_of(set: &Set) -> Write {
    let accounts: Vec<_> = set.changed().collect();
    let causes = column(&set.causes, CauseRow::of);
    let recognitions = column(&set.recognitions, |(cause, leg, it)| NewRecognitionRow::of(*cause, *leg, it));
    let transfers = column(set.books.transfers(), TransferRow::of_transfer);
    let events = column(&set.events, EventRow::of);
    let deliveries = column(&set.events, DeliveryRow::of);
    let records = column(&set.records, IdempotencyRow::of);
    Write {
        account_owner: column(&accounts, |it| Id(it.0.owner())),
        account_kind: column(&accounts, |it| it.0.kind().code()),
        balance: column(&accounts, |it| it.1.balance.nanodollars()),
        spent: column(&accounts, |it| it.1.spent.nanodollars()),
        movements: column(&accounts, |it| it.1.movements),
        made_up: column(&accounts, |it| it.1.made_up.nanodollars()),

        cause: column(&causes, |it| it.id),
        cause_company: column(&causes, |it| it.company_id),
        cause_provider: column(&causes, |it| it.provider_id),
        cause_kind: column(&causes, |it| it.kind),
        actor: column(&causes, |it| it.actor),
        reference: column(&causes, |it| owned(it.reference.as_deref())),
        idempotency_key: column(&causes, |it| owned(it.idempotency_key.as_deref())),
        cause_rate: column(&causes, |it| it.points_per_dollar),
        cause_points: column(&causes, |it| it.points),
        legs: column(&causes, |it| it.legs),
        subject: column(&causes, |it| it.subject_id),
        occasion: column(&causes, |it| it.occasion_id),
        cause_share: column(&causes, |it| it.share),
        message: column(&causes, |it| owned(it.message.as_deref())),
        caused_at: column(&causes, |it| it.created_at),

        sending: column(&recognitions, |it| it.cause_id),
        sending_leg: column(&recognitions, |it| it.leg),
        recognition: column(&recognitions, |it| it.id),
        recognition_company: column(&recognitions, |it| it.company_id),
        sender: column(&recognitions, |it| it.sender_id),
        receiver: column(&recognitions, |it| it.receiver_id),
        share: column(&recognitions, |it| it.share),
        sent_at: column(&recognitions, |it| it.created_at),

        paid_for: column(&transfers, |it| it.cause_id),
        leg: column(&transfers, |it| it.leg),
        transfer_company: column(&transfers, |it| it.company_id),
        debit_owner: column(&transfers, |it| it.debit_owner),
        debit_kind: column(&transfers, |it| it.debit_kind),
        debit_place: column(&transfers, |it| it.debit_place),
        credit_owner: column(&transfers, |it| it.credit_owner),
        credit_kind: column(&transfers, |it| it.credit_kind),
        credit_place: column(&transfers, |it| it.credit_place),
        amount: column(&transfers, |it| it.amount),
        points: column(&transfers, |it| it.points),
        rate: column(&transfers, |it| it.points_per_dollar),
        reason: column(&transfers, |it| it.reason),
        paid_at: column(&transfers, |it| it.created_at),

        event: column(&events, |it| it.id),
        event_company: column(&events, |it| it.company_id),
        event_provider: column(&events, |it| it.provider_id),
        event_kind: column(&events, |it| it.kind),
        told_cause: column(&events, |it| it.cause_id),
        event_body: column(&events, |it| it.body.to_vec()),
        queued_at: column(&events, |it| it.created_at),

        delivery: column(&deliveries, |it| it.event_id),
        delivery_company: column(&deliveries, |it| it.company_id),
        delivery_provider: column(&deliveries, |it| it.provider_id),
        state: column(&deliveries, |it| it.state),
        attempts: column(&deliveries, |it| it.attempts),
        attempts_before_replay: column(&deliveries, |it| it.attempts_before_replay),
        next_attempt_at: column(&deliveries, |it| it.next_attempt_at),

        scope: column(&records, |it| it.scope),
        key: column(&records, |it| it.idempotency_key.clone()),
        request_hash: column(&records, |it| it.request_hash.clone()),
        status: column(&records, |it| it.status),
        answer: column(&records, |it| it.body.clone()),
        answered_at: column(&records, |it| it.created_at),
        expires_at: column(&records, |it| it.expires_at),
    }
}
