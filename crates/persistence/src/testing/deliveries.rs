//! The stored delivery state of events.

use diesel::prelude::*;
use guerdon_domain::events::EventState;
use guerdon_domain::ports::Timestamp;
use guerdon_domain::values::EventId;
use uuid::Uuid;

use super::TestDatabase;
use crate::rows::schema::{attempts, deliveries};
use crate::rows::{DbTimestamp, Id};
use crate::url::DatabaseUrl;

/// A row of `deliveries` and its rows of `attempts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDelivery {
    /// The state of the delivery.
    pub state: EventState,
    /// The stored number of attempts.
    pub attempts: i32,
    /// The stored number of attempts at the latest replay.
    pub attempts_before_replay: i32,
    /// When it can be claimed.
    pub next_attempt_at: Option<Timestamp>,
    /// The id of its lease.
    pub lease_id: Option<Uuid>,
    /// The recorded attempts, number and id, in this order.
    pub recorded: Vec<(i32, Uuid)>,
}

type DeliveryColumns = (i16, i32, i32, Option<DbTimestamp>, Option<Id>);

impl TestDatabase {
    /// The delivery of an event, which must exist.
    pub fn load_delivery(&self, event: EventId) -> StoredDelivery {
        let event = Id(event);
        let row = deliveries::table.find(event).select((
            deliveries::state,
            deliveries::attempts,
            deliveries::attempts_before_replay,
            deliveries::next_attempt_at,
            deliveries::lease_id,
        ));
        let recorded = attempts::table
            .filter(attempts::event_id.eq(event))
            .order((attempts::number, attempts::id))
            .select((attempts::number, attempts::id));
        let (row, recorded): (QueryResult<DeliveryColumns>, QueryResult<Vec<(i32, Id)>>) = match self
            .database_url()
        {
            DatabaseUrl::Sqlite(path) => {
                let mut conn = SqliteConnection::establish(&path.to_string_lossy()).expect("the database");
                (row.get_result(&mut conn), recorded.get_results(&mut conn))
            }
            DatabaseUrl::Postgres(url) => {
                self.use_session(&url, |conn| (row.get_result(conn), recorded.get_results(conn)))
            }
        };
        let (state, attempts, attempts_before_replay, due, lease) = row.expect("the delivery");
        StoredDelivery {
            state: EventState::from_code(state).expect("a state"),
            attempts,
            attempts_before_replay,
            next_attempt_at: due.map(|at| at.0),
            lease_id: lease.map(|id| id.0),
            recorded: recorded
                .expect("the attempts")
                .into_iter()
                .map(|(number, id)| (number, id.0))
                .collect(),
        }
    }
}
