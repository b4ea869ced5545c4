//! The rows that are inserted many at a time.

use diesel::pg::Pg;
use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, SmallInt, Text};
use guerdon_domain::values::{CauseId, CompanyId, EventId, OccasionId, ProviderId, RecognitionId, UserId};

use super::columns::{ArrayOf, Kept, columns};
use crate::rows::types::{At, Id, Identifier, Moment};
use crate::rows::{
    AttemptRow, CauseRow, DeliveryRow, EventRow, IdempotencyRow, NewRecognitionRow, TransferRow,
};

columns! {
    Causes of CauseRow<'_>, in "causes" {
        id: Identifier = Id<CauseId>,
        company_id: Identifier = Id<CompanyId>,
        provider_id: Identifier = Id<ProviderId>,
        kind: SmallInt = i16,
        actor: SmallInt = i16,
        reference: Nullable<Text> = Option<String>,
        idempotency_key: Nullable<Text> = Option<String>,
        points_per_dollar: Integer = i32,
        points: BigInt = i64,
        legs: Integer = i32,
        wallet: Nullable<SmallInt> = Option<i16>,
        subject_id: Nullable<Identifier> = Option<Id>,
        occasion_id: Nullable<Identifier> = Option<Id<OccasionId>>,
        due_on: Nullable<Text> = Option<String>,
        share: Nullable<Bool> = Option<bool>,
        message: Nullable<Text> = Option<String>,
        created_at: Moment = At,
    }
}

columns! {
    Recognitions of NewRecognitionRow, in "recognitions" {
        cause_id: Identifier = Id<CauseId>,
        leg: Integer = i32,
        id: Identifier = Id<RecognitionId>,
        company_id: Identifier = Id<CompanyId>,
        sender_id: Identifier = Id,
        receiver_id: Identifier = Id<UserId>,
        share: Bool = bool,
        created_at: Moment = At,
    }
}

columns! {
    Transfers of TransferRow, in "transfers" {
        cause_id: Identifier = Id<CauseId>,
        leg: Integer = i32,
        company_id: Identifier = Id<CompanyId>,
        debit_owner: Identifier = Id,
        debit_kind: SmallInt = i16,
        debit_place: BigInt = i64,
        credit_owner: Identifier = Id,
        credit_kind: SmallInt = i16,
        credit_place: BigInt = i64,
        amount: BigInt = i64,
        points: BigInt = i64,
        points_per_dollar: Integer = i32,
        reason: SmallInt = i16,
        created_at: Moment = At,
    }
}

columns! {
    Events of EventRow<'_>, in "events" {
        id: Identifier = Id<EventId>,
        company_id: Identifier = Id<CompanyId>,
        provider_id: Identifier = Id<ProviderId>,
        kind: SmallInt = i16,
        cause_id: Identifier = Id<CauseId>,
        body: Binary = Vec<u8>,
        created_at: Moment = At,
    }
}

columns! {
    Deliveries of DeliveryRow, in "deliveries" {
        event_id: Identifier = Id<EventId>,
        company_id: Identifier = Id<CompanyId>,
        provider_id: Identifier = Id<ProviderId>,
        state: SmallInt = i16,
        attempts: Integer = i32,
        attempts_before_replay: Integer = i32,
        next_attempt_at: Nullable<Moment> = Option<At>,
    }
}

columns! {
    Attempts of AttemptRow<'_>, in "attempts" {
        event_id: Identifier = Id<EventId>,
        id: Identifier = Id,
        company_id: Identifier = Id<CompanyId>,
        number: Integer = i32,
        started_at: Moment = At,
        duration_micros: BigInt = i64,
        status: Nullable<SmallInt> = Option<i16>,
        cause: Nullable<Text> = Option<String>,
        answer: Binary = Vec<u8>,
    }
}

columns! {
    Records of IdempotencyRow, in "idempotency_records" {
        scope: Identifier = Id,
        idempotency_key: Text = String,
        request_hash: Binary = Vec<u8>,
        status: SmallInt = i16,
        body: Binary = Vec<u8>,
        created_at: Moment = At,
        expires_at: Moment = At,
    }
}
