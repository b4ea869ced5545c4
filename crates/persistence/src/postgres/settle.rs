//! What came of deliveries, written by one statement.

use diesel::pg::sql_types::Array;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, SmallInt, Text};
use guerdon_domain::ports::Settlement;
use guerdon_domain::values::{CompanyId, EventId};

use super::{Conn, Db};
use crate::rows::types::{At, Id, Identifier, Moment};
use crate::rows::{AttemptRow, SettledRow};
use crate::statement::statement;

/// An attempt that is on record already is counted no second time, and its event given back.
const SETTLE: &str = "WITH new AS ( \
    INSERT INTO attempts (event_id, id, company_id, number, started_at, duration_micros, status, cause, answer) \
    SELECT * FROM unnest(?::uuid[], ?::uuid[], ?::uuid[], ?::smallint[], ?::timestamptz[], ?::bigint[], ?::smallint[], \
      ?::text[], ?::bytea[]) ON CONFLICT DO NOTHING RETURNING id \
  ) \
  UPDATE deliveries AS d SET lease_id = NULL, \
    attempts = d.attempts + CASE WHEN it.attempt_id IS NOT NULL AND new.id IS NOT NULL THEN 1 ELSE 0 END, \
    state = CASE WHEN it.attempt_id IS NULL OR new.id IS NOT NULL THEN it.state ELSE it.state_back END, \
    next_attempt_at = CASE WHEN it.attempt_id IS NULL OR new.id IS NOT NULL THEN it.due ELSE it.due_back END \
  FROM unnest(?::uuid[], ?::uuid[], ?::uuid[], ?::smallint[], ?::timestamptz[], ?::smallint[], ?::timestamptz[]) \
    AS it (event_id, lease_id, attempt_id, state, due, state_back, due_back) LEFT JOIN new ON new.id = it.attempt_id \
  WHERE d.event_id = it.event_id AND d.lease_id = it.lease_id";

statement! {
    Settle -> Bool {
        event: Array<Identifier> = Vec<Id<EventId>>,
        attempt: Array<Identifier> = Vec<Id>,
        company: Array<Identifier> = Vec<Id<CompanyId>>,
        number: Array<SmallInt> = Vec<i16>,
        started_at: Array<Moment> = Vec<At>,
        duration_micros: Array<BigInt> = Vec<i64>,
        status: Array<Nullable<SmallInt>> = Vec<Option<i16>>,
        cause: Array<Nullable<Text>> = Vec<Option<String>>,
        answer: Array<Binary> = Vec<Vec<u8>>,

        settled: Array<Identifier> = Vec<Id<EventId>>,
        lease: Array<Identifier> = Vec<Id>,
        settled_attempt: Array<Nullable<Identifier>> = Vec<Option<Id>>,
        state: Array<SmallInt> = Vec<i16>,
        due: Array<Nullable<Moment>> = Vec<Option<At>>,
        state_back: Array<SmallInt> = Vec<i16>,
        due_back: Array<Nullable<Moment>> = Vec<Option<At>>,
    }
    SETTLE
}

pub(crate) fn settle(conn: &mut Conn, settlements: &[Settlement]) -> QueryResult<()> {
    let made = settlements.iter().filter_map(|it| Some(AttemptRow::of(it.event, it.attempt.as_ref()?)));
    let made: Vec<AttemptRow<'_>> = made.collect();
    let all: Vec<SettledRow> = settlements.iter().map(SettledRow::of).collect();
    let settle = Settle {
        event: made.iter().map(|it| it.event_id).collect(),
        attempt: made.iter().map(|it| it.id).collect(),
        company: made.iter().map(|it| it.company_id).collect(),
        number: made.iter().map(|it| it.number).collect(),
        started_at: made.iter().map(|it| it.started_at).collect(),
        duration_micros: made.iter().map(|it| it.duration_micros).collect(),
        status: made.iter().map(|it| it.status).collect(),
        cause: made.iter().map(|it| it.cause.map(str::to_owned)).collect(),
        answer: made.iter().map(|it| it.answer.to_vec()).collect(),

        settled: all.iter().map(|it| it.event).collect(),
        lease: all.iter().map(|it| it.lease).collect(),
        settled_attempt: all.iter().map(|it| it.attempt).collect(),
        state: all.iter().map(|it| it.fate.0).collect(),
        due: all.iter().map(|it| it.fate.1).collect(),
        state_back: all.iter().map(|it| it.back.0).collect(),
        due_back: all.iter().map(|it| it.back.1).collect(),
    };
    settle.execute(conn).map(drop)
}
