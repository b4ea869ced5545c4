//! Checks that the bodies of events agree with the journal and are the bodies that were sealed.

use std::collections::HashMap;

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::events::{EventFacts, EventKind, EventSubject};
use guerdon_domain::ports::{EventBodies, StoreError};
use guerdon_domain::values::{EventId, RecognitionId};
use uuid::Uuid;

use super::Unit;
use super::pages::{PositionedEntry, RowsByEntry};
use crate::rows::schema::{events, recognitions};
use crate::rows::seals::SealChain;
use crate::rows::{Id, JournalEntryRow, RecognitionRow, StoredEventRow, kind};

/// The maximum number of bodies in memory. Each may have tens of kilobytes.
const BODIES_MAX: usize = 100;

/// The data of an event that an audit needs after it has read the body.
pub(super) struct EventDigest {
    id: Id<EventId>,
    kind: i16,
    /// The digest of the body as it was originally written.
    digest: Vec<u8>,
    /// The facts of the ledger in the body, if requested.
    facts: Option<EventFacts>,
}

/// The events of a batch of journal entries.
#[derive(Default)]
pub(super) struct EventDigests(HashMap<Id<EventId>, EventDigest>);

impl EventDigests {
    /// The events of one entry that still exist, in the order in which seals chain them.
    pub(super) fn of_entry<'a>(
        &'a self,
        entry: &'a JournalEntryRow<'_>,
        sent: &'a [RecognitionRow],
    ) -> impl Iterator<Item = &'a EventDigest> {
        let own = event_kind_of_entry(entry.kind).map(|_| Id(EventId::from_uuid(entry.id.0.as_uuid())));
        let received = sent.iter().map(|recognition| Id(EventId::from_uuid(recognition.id.0.as_uuid())));
        received.chain(own).filter_map(|id| self.0.get(&id))
    }
}

/// The kind of the event that has the same id as its journal entry.
fn event_kind_of_entry(entry: i16) -> Option<EventKind> {
    EventKind::ALL.iter().copied().find(|event_kind| kind::reported_by(*event_kind) == Some(entry))
}

/// The chain over the events of a range of the journal.
pub(super) struct EventChain {
    chain: SealChain,
    pub(super) count: i64,
}

impl EventChain {
    pub(super) fn new() -> Self {
        Self { chain: SealChain::continue_from(crate::rows::seals::FIRST_HEAD), count: 0 }
    }

    pub(super) fn add_event(&mut self, event: &EventDigest) {
        self.chain.add_bytes(Some(event.id.0));
        self.chain.add_bytes(Some(&event.digest));
        self.count += 1;
    }

    pub(super) fn finish(self) -> [u8; 32] {
        self.chain.finish()
    }
}

impl Unit<'_> {
    pub(super) fn load_event_digests(
        &mut self,
        batch: &[PositionedEntry],
        recognitions: &RowsByEntry<RecognitionRow>,
        bodies: Option<&dyn EventBodies>,
    ) -> Result<EventDigests, StoreError> {
        let mut ids: Vec<Id<EventId>> = Vec::new();
        for (_, entry) in batch {
            ids.extend(event_kind_of_entry(entry.kind).map(|_| Id(EventId::from_uuid(entry.id.0.as_uuid()))));
            let sent = recognitions.of_entry(entry.id).iter();
            ids.extend(sent.map(|recognition| Id(EventId::from_uuid(recognition.id.0.as_uuid()))));
        }
        let mut events = EventDigests::default();
        for ids in ids.chunks(BODIES_MAX) {
            let rows: Vec<StoredEventRow> = self.query(|conn| {
                events::table
                    .filter(events::id.eq_any(ids))
                    .select(StoredEventRow::as_select())
                    .get_results(conn)
            })?;
            events.0.extend(rows.into_iter().map(|row| {
                let facts = bodies.and_then(|bodies| bodies.parse_facts(&row.body));
                (
                    row.id,
                    EventDigest { id: row.id, kind: row.kind, digest: row.into_original_digest(), facts },
                )
            }));
        }
        Ok(events)
    }

    /// Compares the bodies of a batch with the journal.
    pub(super) fn audit_event_bodies(
        &mut self,
        batch: &[PositionedEntry],
        recognitions: &RowsByEntry<RecognitionRow>,
        events: &EventDigests,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let amended = self.amended_recognitions(batch)?;
        for (_, entry) in batch {
            let company = entry.company_id.0.as_uuid();
            let facts_of = |kind, recognition: &RecognitionRow, points| EventFacts {
                kind,
                object_id: recognition.id.0.as_uuid(),
                company,
                sender: Some(recognition.sender_id.0),
                receiver: Some(recognition.receiver_id.0.as_uuid()),
                points,
            };
            let sent = recognitions.of_entry(entry.id);
            for event in events.of_entry(entry, sent) {
                let subject = entry.subject_id.map_or(Uuid::nil(), |id| id.0);
                let expected = EventKind::from_code(event.kind).and_then(|kind| match kind.subject() {
                    EventSubject::SentRecognition => sent
                        .iter()
                        .find(|recognition| recognition.id.0.as_uuid() == event.id.0.as_uuid())
                        .map(|recognition| facts_of(kind, recognition, entry.points)),
                    EventSubject::AmendedRecognition => amended
                        .get(&subject)
                        .map(|(recognition, points)| facts_of(kind, recognition, *points)),
                    EventSubject::User => Some(EventFacts {
                        kind,
                        object_id: subject,
                        company,
                        sender: None,
                        receiver: None,
                        points: entry.points,
                    }),
                });
                let matches = expected.is_some() && event.facts == expected;
                findings.require(matches, "event's body", || {
                    format!("the body of event {} differs from the journal", event.id.0)
                });
            }
        }
        Ok(())
    }

    /// The recognitions that the entries of a batch amended, each with its points.
    fn amended_recognitions(
        &mut self,
        batch: &[PositionedEntry],
    ) -> Result<HashMap<Uuid, (RecognitionRow, i64)>, StoreError> {
        let amendments = batch.iter().filter(|(_, entry)| entry.kind == kind::AMENDMENT);
        let ids: Vec<Id<RecognitionId>> =
            amendments.filter_map(|(_, entry)| Some(Id(entry.subject_id?.0.into()))).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let found: Vec<RecognitionRow> = self.query(|conn| {
            recognitions::table
                .filter(recognitions::id.eq_any(&ids))
                .select(RecognitionRow::as_select())
                .get_results(conn)
        })?;
        let entries: Vec<_> = found.iter().map(|recognition| recognition.journal_entry_id).collect();
        let entries = self.load_entries_by_id(&entries)?;
        let priced = found.into_iter().filter_map(|recognition| {
            let points = entries.get(&recognition.journal_entry_id)?.points;
            Some((recognition.id.0.as_uuid(), (recognition, points)))
        });
        Ok(priced.collect())
    }
}
