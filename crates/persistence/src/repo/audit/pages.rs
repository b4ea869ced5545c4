//! Reading facts a page at a time.

use std::collections::HashMap;

use diesel::prelude::*;
use guerdon_domain::ports::StoreError;

use super::super::Unit;
use crate::rows::{CauseRow, EventFact, RecognitionFact, TransferRow};
use crate::schema::{causes, events, recognitions, transfers};
use crate::types::Id;

/// How many causes a page holds.
pub(super) const CAUSES: i64 = 1_000;
/// How many legs of one cause are read at a time.
pub(super) const LEGS: i64 = 10_000;

/// Where a page begins: behind a position of the journal and an id there.
pub(super) type Place = (i64, Id);
pub(super) type Placed = (i64, CauseRow<'static>);

impl Unit<'_> {
    /// The next causes in their order, from a position on or behind a place of it.
    pub(super) fn causes_after(
        &mut self,
        from: i64,
        behind: Option<Place>,
        limit: i64,
    ) -> Result<Vec<Placed>, StoreError> {
        let behind = behind.filter(|it| it.0 >= from);
        let all = causes::table
            .order((causes::position, causes::id))
            .limit(limit)
            .select((causes::position, CauseRow::as_select()));
        self.query(|conn| match behind {
            None => all.filter(causes::position.ge(from)).get_results(conn),
            Some((position, id)) => all
                .filter(causes::position.ge(position))
                .filter(causes::position.gt(position).or(causes::id.gt(id)))
                .get_results(conn),
        })
    }

    /// Causes by their ids, in no order.
    pub(super) fn causes_of(&mut self, ids: &[Id]) -> Result<HashMap<Id, CauseRow<'static>>, StoreError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let found: Vec<CauseRow<'static>> = self.query(|conn| {
            causes::table.filter(causes::id.eq_any(ids)).select(CauseRow::as_select()).get_results(conn)
        })?;
        Ok(found.into_iter().map(|it| (it.id, it)).collect())
    }

    /// All transfers of causes, by cause, in the order of the legs.
    pub(super) fn transfers_of(&mut self, ids: &[Id]) -> Result<HashMap<Id, Vec<TransferRow>>, StoreError> {
        let found: Vec<TransferRow> = self.query(|conn| {
            transfers::table
                .filter(transfers::cause_id.eq_any(ids))
                .order((transfers::cause_id, transfers::leg))
                .select(TransferRow::as_select())
                .get_results(conn)
        })?;
        Ok(grouped(found, |it| it.cause_id))
    }

    /// The next transfers of one cause.
    pub(super) fn transfers_after(&mut self, cause: Id, leg: i32) -> Result<Vec<TransferRow>, StoreError> {
        self.query(|conn| {
            transfers::table
                .filter(transfers::cause_id.eq(cause).and(transfers::leg.gt(leg)))
                .order(transfers::leg)
                .limit(LEGS)
                .select(TransferRow::as_select())
                .get_results(conn)
        })
    }

    /// All recognitions of causes, by cause, in the order of the legs.
    pub(super) fn recognitions_of(
        &mut self,
        ids: &[Id],
    ) -> Result<HashMap<Id, Vec<RecognitionFact>>, StoreError> {
        let found: Vec<RecognitionFact> = self.query(|conn| {
            recognitions::table
                .filter(recognitions::cause_id.eq_any(ids))
                .order((recognitions::cause_id, recognitions::leg))
                .select(RecognitionFact::as_select())
                .get_results(conn)
        })?;
        Ok(grouped(found, |it| it.cause_id))
    }

    /// Events by their ids.
    pub(super) fn events_of(&mut self, ids: &[Id]) -> Result<HashMap<Id, EventFact>, StoreError> {
        let mut all = HashMap::with_capacity(ids.len());
        for slice in ids.chunks(10_000) {
            let found: Vec<EventFact> = self.query(|conn| {
                events::table
                    .filter(events::id.eq_any(slice))
                    .select(EventFact::as_select())
                    .get_results(conn)
            })?;
            all.extend(found.into_iter().map(|it| (it.id, it)));
        }
        Ok(all)
    }
}

fn grouped<T>(all: Vec<T>, cause: impl Fn(&T) -> Id) -> HashMap<Id, Vec<T>> {
    let mut groups: HashMap<Id, Vec<T>> = HashMap::new();
    for it in all {
        groups.entry(cause(&it)).or_default().push(it);
    }
    groups
}

/// Cuts a page of causes where the legs that they say they have come to more than are read at a time.
pub(super) fn batches(page: &[Placed]) -> Vec<&[Placed]> {
    let most = usize::try_from(LEGS).unwrap_or(usize::MAX);
    let (mut all, mut rest) = (Vec::new(), page);
    while !rest.is_empty() {
        let mut legs = 0_usize;
        let fits = |it: &&Placed| {
            legs = legs.saturating_add(it.1.legs());
            legs <= most
        };
        let (batch, after) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        all.push(batch);
        rest = after;
    }
    all
}
