//! What a unit of work on the one writer is held to.

use std::time::{Duration, Instant};

use diesel::SqliteConnection;
use guerdon_domain::ports::{Expected, Payment, StoreError};

use crate::postings::{Facts, Part};

/// Whoever pays more than so many writes much.
const FEW: usize = 100;

/// What a unit of work is held to, over all its tries: its time, and its turn where it writes much.
pub(crate) struct Terms {
    /// After this nothing of the unit commits.
    deadline: Option<Instant>,
    turn: Turn,
    /// What those before it in its batch have read, where nothing but postings was between.
    facts: Option<Facts>,
}

#[derive(PartialEq, Eq)]
enum Turn {
    NotAsked,
    Missed,
    Held,
}

impl Terms {
    /// For a unit that has so much time, if it is limited at all.
    pub(crate) fn new(within: Option<Duration>) -> Self {
        Self { deadline: within.map(|it| Instant::now() + it), turn: Turn::NotAsked, facts: None }
    }

    /// One writer makes no sets: units that meet share its commit.
    pub(crate) fn part(&mut self) -> Option<&mut Part> {
        None
    }

    /// What is known of those before it in its batch.
    pub(crate) fn facts(&mut self) -> Option<&mut Facts> {
        self.facts.as_mut()
    }

    pub(super) fn lend(&mut self, facts: Facts) {
        self.facts = Some(facts);
    }

    pub(super) fn take_back(&mut self) -> Facts {
        self.facts.take().unwrap_or_default()
    }

    pub(crate) fn go_on(&mut self, _conn: &mut SqliteConnection) -> Result<(), StoreError> {
        let is_over = self.deadline.is_some_and(|it| it <= Instant::now());
        if is_over { Err(StoreError::Contended) } else { Ok(()) }
    }

    /// One writer: whoever has it has every account.
    pub(crate) fn enter(&mut self, _payment: &Payment<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    /// Asks for a turn where much will be written; an error where the unit has none yet.
    pub(crate) fn line_up(&mut self, expected: &Expected<'_>) -> Result<(), StoreError> {
        if expected.receivers.len() <= FEW || self.has_turn() {
            return Ok(());
        }
        self.turn = Turn::Missed;
        Err(StoreError::Contended)
    }

    /// Whether the unit gave up because it had no turn.
    pub(crate) fn lacks_turn(&self) -> bool {
        self.turn == Turn::Missed
    }

    pub(crate) fn has_turn(&self) -> bool {
        self.turn == Turn::Held
    }

    pub(crate) fn give_turn(&mut self) {
        self.turn = Turn::Held;
    }
}
