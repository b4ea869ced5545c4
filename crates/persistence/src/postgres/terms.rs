//! What a unit of work on PostgreSQL is held to: its time, and its places at the gate.

use std::sync::Arc;
use std::time::{Duration, Instant};

use diesel::prelude::*;
use diesel::sql_types::Text;
use guerdon_domain::ports::{Expected, Payment, StoreError};
use guerdon_domain::wallets::Account;

use super::faults::classify;
use super::gate::{Gate, Places, accounts_of};
use crate::postings::{Facts, Part};

/// How long a statement may take, unless its transaction takes its time.
pub(crate) const STATEMENT_LIMIT: Duration = Duration::from_secs(5);

/// The terms of one unit of work, over all its tries.
#[derive(Default)]
pub(crate) struct Terms {
    /// After this nothing of the unit commits.
    deadline: Option<Instant>,
    places: Option<Places>,
    part: Option<Part>,
}

impl Terms {
    /// For a unit that has so much time, if it is limited at all, and has to ask for places, if there is a gate.
    pub(crate) fn new(within: Option<Duration>, gate: Option<&Arc<Gate>>) -> Self {
        Self { deadline: within.map(|it| Instant::now() + it), places: gate.map(Places::at), part: None }
    }

    /// How the unit takes part in a set, if it does.
    pub(crate) fn part(&mut self) -> Option<&mut Part> {
        self.part.as_mut()
    }

    /// What is known to the set in which the unit has its turn.
    pub(crate) fn facts(&mut self) -> Option<&mut Facts> {
        match self.part()? {
            Part::InSet(set) => Some(&mut set.facts),
            Part::Ahead(_) => None,
        }
    }

    pub(super) fn put_part(&mut self, part: Part) {
        self.part = Some(part);
    }

    pub(super) fn take_part(&mut self) -> Option<Part> {
        self.part.take()
    }

    /// After this nothing of the unit commits.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |it| it.saturating_duration_since(Instant::now()))
    }

    /// How long the unit may wait for something that it waits for at most so long; an error where its time is over.
    pub(crate) fn patience(&self, most: Duration) -> Result<Duration, StoreError> {
        let left = self.left();
        if left.is_zero() { Err(StoreError::Contended) } else { Ok(left.min(most)) }
    }

    /// Before each statement and before the commit: an error where the time is over. What is left bounds the
    /// statement; that takes a question to the server only where it is less than any statement has.
    pub(crate) fn go_on(&mut self, conn: &mut PgConnection) -> Result<(), StoreError> {
        let left = self.left();
        if left >= STATEMENT_LIMIT {
            return Ok(());
        }
        if takes_its_time(conn, left).map_err(|e| classify(&e))? {
            self.deadline = None;
            return Ok(());
        }
        if left.is_zero() { Err(StoreError::Contended) } else { Ok(()) }
    }

    /// Asks for places early. The wallets of several receivers are seldom waited for.
    pub(crate) fn line_up(&mut self, expected: &Expected<'_>) -> Result<(), StoreError> {
        match expected.receivers {
            [only] => self.ask_for(&[*only, expected.payer]),
            _ => self.ask_for(&[expected.payer]),
        }
    }

    /// Asks for places with the accounts of a payment, as far as they are few.
    pub(crate) fn enter(&mut self, payment: &Payment<'_>) -> Result<(), StoreError> {
        self.ask_for(&accounts_of(payment))
    }

    /// Asks for places at the gate; an error where one is missing, then to be [waited for](Self::wait).
    fn ask_for(&mut self, accounts: &[Account]) -> Result<(), StoreError> {
        let is_in = self.places.as_mut().is_none_or(|it| it.enter(accounts));
        if is_in { Ok(()) } else { Err(StoreError::Contended) }
    }

    /// Whether the unit gave up because a place was missing.
    pub(crate) fn lacks_a_place(&self) -> bool {
        self.places.as_ref().is_some_and(Places::is_missing)
    }

    /// Waits for the places that were missing; an error where there are none in time.
    pub(crate) fn wait(&mut self) -> Result<(), StoreError> {
        let most = self.patience(Duration::from_secs(60))?;
        let is_in = self.places.as_mut().is_none_or(|it| it.wait(most));
        if is_in { Ok(()) } else { Err(StoreError::Contended) }
    }
}

/// Bounds the statements that follow by the time that is left, unless the transaction has lifted their limit.
/// Answers whether it has.
fn takes_its_time(conn: &mut PgConnection, left: Duration) -> QueryResult<bool> {
    let limit = left.as_millis().max(1).to_string();
    let set = diesel::dsl::sql::<Text>(
        "set_config('statement_timeout', CASE current_setting('statement_timeout') WHEN '0' THEN '0' ELSE ",
    )
    .bind::<Text, _>(limit)
    .sql(" END, true)");
    diesel::select(set).get_result::<String>(conn).map(|it| it == "0")
}
