//! Checks that the bodies of events agree with the journal and are the ones that were sealed.

use std::collections::HashMap;

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::events::{EventFacts, EventKind};
use guerdon_domain::ports::{EventBodies, StoreError};
use guerdon_domain::values::{EventId, RecognitionId};
use uuid::Uuid;

use super::super::Unit;
use super::pages::{Legs, Placed};
use crate::rows::schema::{events, recognitions};
use crate::rows::seals::Chain;
use crate::rows::types::Id;
use crate::rows::{JournalEntryRow, RecognitionFact, StoredEventRow, kind};

/// The maximum number of bodies in memory. Each may have tens of kilobytes.
const BODIES: usize = 100;

/// What an audit keeps of an event after it has read the body.
pub(super) struct EventDigest {
    id: Id<EventId>,
    kind: i16,
    /// The digest of the body as it was originally written.
    digest: Vec<u8>,
    /// What the body says about the ledger, if requested.
    facts: Option<EventFacts>,
}

/// The events of a batch of journal entries.
#[derive(Default)]
pub(super) struct Events(HashMap<Id<EventId>, EventDigest>);

impl Events {
    /// The events of one entry that still exist, in the order in which seals chain them.
    pub(super) fn of<'a>(
        &'a self,
        cause: &'a JournalEntryRow<'_>,
        sent: &'a [RecognitionFact],
    ) -> impl Iterator<Item = &'a EventDigest> {
        let own = kind_of_event(cause.kind).map(|_| Id(EventId::from_uuid(cause.id.0.as_uuid())));
        let received = sent.iter().map(|recognition| Id(EventId::from_uuid(recognition.id.0.as_uuid())));
        received.chain(own).filter_map(|id| self.0.get(&id))
    }
}

/// The kind of the event that has the same id as its journal entry.
fn kind_of_event(cause: i16) -> Option<EventKind> {
    match cause {
        kind::AMENDMENT => Some(EventKind::RecognitionUpdated),
        kind::REDEMPTION => Some(EventKind::RedemptionCreated),
        _ => None,
    }
}

/// The chain over the events of a range of the journal.
pub(super) struct EventChain {
    chain: Chain,
    pub(super) count: i64,
}

impl EventChain {
    pub(super) fn new() -> Self {
        Self { chain: Chain::after(crate::rows::seals::BEGINNING), count: 0 }
    }

    pub(super) fn add(&mut self, event: &EventDigest) {
        self.chain.bytes(Some(event.id.0.as_ref()));
        self.chain.bytes(Some(&event.digest));
        self.count += 1;
    }

    pub(super) fn finish(self) -> [u8; 32] {
        self.chain.finish()
    }
}

impl Unit<'_> {
    pub(super) fn events_of(
        &mut self,
        batch: &[Placed],
        recognitions: &Legs<RecognitionFact>,
        bodies: Option<&dyn EventBodies>,
    ) -> Result<Events, StoreError> {
        let mut ids: Vec<Id<EventId>> = Vec::new();
        for (_, cause) in batch {
            ids.extend(kind_of_event(cause.kind).map(|_| Id(EventId::from_uuid(cause.id.0.as_uuid()))));
            let sent = recognitions.of(cause.id).iter();
            ids.extend(sent.map(|recognition| Id(EventId::from_uuid(recognition.id.0.as_uuid()))));
        }
        let mut events = Events::default();
        for ids in ids.chunks(BODIES) {
            let rows: Vec<StoredEventRow> = self.query(|conn| {
                events::table
                    .filter(events::id.eq_any(ids))
                    .select(StoredEventRow::as_select())
                    .get_results(conn)
            })?;
            events.0.extend(rows.into_iter().map(|row| {
                let facts = bodies.and_then(|bodies| bodies.facts(&row.body));
                (row.id, EventDigest { id: row.id, kind: row.kind, digest: row.digest(), facts })
            }));
        }
        Ok(events)
    }

    /// Compares the bodies of a batch with the journal.
    pub(super) fn judge_events(
        &mut self,
        batch: &[Placed],
        recognitions: &Legs<RecognitionFact>,
        events: &Events,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let amended = self.amended_recognitions(batch)?;
        for (_, cause) in batch {
            let company = cause.company_id.0.as_uuid();
            let facts_of = |kind, recognition: &RecognitionFact, points| EventFacts {
                kind,
                subject: recognition.id.0.as_uuid(),
                company,
                sender: Some(recognition.sender()),
                receiver: Some(recognition.receiver()),
                points,
            };
            let sent = recognitions.of(cause.id);
            for event in events.of(cause, sent) {
                let subject = cause.subject_id.map_or(Uuid::nil(), |id| id.0);
                let expected = match EventKind::from_code(event.kind) {
                    Some(kind @ EventKind::RecognitionReceived) => sent
                        .iter()
                        .find(|recognition| recognition.id.0.as_uuid() == event.id.0.as_uuid())
                        .map(|recognition| facts_of(kind, recognition, cause.points)),
                    Some(kind @ EventKind::RecognitionUpdated) => amended
                        .get(&subject)
                        .map(|(recognition, points)| facts_of(kind, recognition, *points)),
                    Some(kind @ EventKind::RedemptionCreated) => Some(EventFacts {
                        kind,
                        subject,
                        company,
                        sender: None,
                        receiver: None,
                        points: cause.points,
                    }),
                    None => None,
                };
                let fits = expected.is_some() && event.facts == expected;
                findings.demand(fits, "event's body", || {
                    format!("the body of event {} does not say what the journal says", event.id.0)
                });
            }
        }
        Ok(())
    }

    /// The recognitions that the entries of a batch amended, each with its points.
    fn amended_recognitions(
        &mut self,
        batch: &[Placed],
    ) -> Result<HashMap<Uuid, (RecognitionFact, i64)>, StoreError> {
        let amendments = batch.iter().filter(|(_, cause)| cause.kind == kind::AMENDMENT);
        let ids: Vec<Id<RecognitionId>> =
            amendments.filter_map(|(_, cause)| Some(Id(cause.subject_id?.0.into()))).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let found: Vec<RecognitionFact> = self.query(|conn| {
            recognitions::table
                .filter(recognitions::id.eq_any(&ids))
                .select(RecognitionFact::as_select())
                .get_results(conn)
        })?;
        let sendings: Vec<_> = found.iter().map(|recognition| recognition.journal_entry_id).collect();
        let sendings = self.journal_entries_of(&sendings)?;
        let priced = found.into_iter().filter_map(|recognition| {
            let points = sendings.get(&recognition.journal_entry_id)?.points;
            Some((recognition.id.0.as_uuid(), (recognition, points)))
        });
        Ok(priced.collect())
    }
}
