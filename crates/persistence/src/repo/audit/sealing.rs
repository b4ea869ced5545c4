//! Computes the next seal.

use diesel::prelude::*;
use guerdon_domain::ports::{PendingSeal, Seal, SealedRange, StoreError, Timestamp};
use guerdon_domain::values::checked_cast;

use super::events::EventChain;
use super::pages::{JournalPosition, PAGE_ENTRIES, PositionedEntry, RowsByEntry, split_into_batches};
use super::statistics_counter::StatisticsCounter;
use super::{Unit, audit_log_complete_before, journal_complete_before};
use crate::rows::schema::seals;
use crate::rows::seals::{FIRST_HEAD, SealChain};
use crate::rows::{Id, SealRow, TransferRow, kind};

/// Converts a stored seal. Fails if its head has the wrong length.
pub(super) fn to_seal(row: &SealRow) -> Result<Seal, StoreError> {
    let head = row.head.as_slice().try_into().map_err(|_length| StoreError::Corrupt {
        table: "seals",
        column: "head",
        id: row.sequence.to_string(),
    })?;
    Ok(Seal { sequence: row.sequence, head, created_at: row.created_at.0 })
}

impl Unit<'_> {
    pub(super) fn load_latest_seal(&mut self) -> Result<Option<SealRow>, StoreError> {
        self.query(|conn| {
            seals::table.order(seals::sequence.desc()).select(SealRow::as_select()).first(conn).optional()
        })
    }

    /// Computes the next seal. `rows_max` limits journal entries and audit entries separately.
    pub(super) fn compute_next_seal(
        &mut self,
        now: Timestamp,
        rows_max: i64,
    ) -> Result<Option<PendingSeal>, StoreError> {
        let last = self.load_latest_seal()?;
        let (journal_from, audit_from) =
            last.as_ref().map_or((i64::MIN, i64::MIN), |seal| (seal.journal_before, seal.audit_before));
        let seal = last.as_ref().map(to_seal).transpose();
        let (sequence, head) =
            self.record_failure(seal)?.map_or((1, FIRST_HEAD), |seal| (seal.sequence + 1, seal.head));
        let mut seal_state = SealInProgress {
            chain: SealChain::continue_from(head),
            event_chain: EventChain::new(),
            counter: StatisticsCounter::default(),
        };
        let journal_entries = self.chain_journal_entries(journal_from, rows_max, &mut seal_state)?;
        let SealInProgress { mut chain, event_chain, counter } = seal_state;
        let audit_entries = self.chain_next_audit_entries(audit_from, rows_max, &mut chain)?;
        if journal_entries.count + audit_entries.count == 0 {
            return Ok(None);
        }
        let (events, statistics) = (event_chain.count, counter.0);
        let seal = Seal { sequence, head: FIRST_HEAD, created_at: now };
        let mut pending = PendingSeal {
            seal,
            journal_entries,
            audit_entries,
            events,
            events_digest: event_chain.finish(),
            statistics,
        };
        SealRow::from_pending_seal(&pending).chain_to(&mut chain);
        pending.seal.head = chain.finish();
        Ok(Some(pending))
    }

    fn chain_journal_entries(
        &mut self,
        from: i64,
        rows_max: i64,
        seal_state: &mut SealInProgress,
    ) -> Result<SealedRange, StoreError> {
        let complete_before = self.query(journal_complete_before)?;
        let (mut count, mut after): (i64, Option<JournalPosition>) = (0, None);
        loop {
            let page = self.load_entries_after(from, after, PAGE_ENTRIES.min((rows_max - count).max(1)))?;
            let complete: Vec<PositionedEntry> =
                page.into_iter().take_while(|(position, _)| *position < complete_before).collect();
            if complete.is_empty() {
                return Ok(SealedRange { end: complete_before.max(from), count });
            }
            for batch in split_into_batches(&complete) {
                // The rows of one transaction are never split.
                let is_full = count >= rows_max;
                let cut = batch
                    .iter()
                    .position(|(position, _)| is_full && after.is_some_and(|at| *position > at.0));
                if let Some((rest, (next, _))) = cut.and_then(|at| Some((batch.get(..at)?, batch.get(at)?))) {
                    self.chain_batch(rest, seal_state)?;
                    return Ok(SealedRange { end: *next, count: count + checked_cast::<i64, _>(rest.len()) });
                }
                self.chain_batch(batch, seal_state)?;
                count += checked_cast::<i64, _>(batch.len());
                after = batch.last().map(|(position, entry)| (*position, entry.id));
            }
        }
    }

    /// Chains the audit entries from position `from`, at least `rows_max` if there are as many.
    fn chain_next_audit_entries(
        &mut self,
        from: i64,
        rows_max: i64,
        chain: &mut SealChain,
    ) -> Result<SealedRange, StoreError> {
        let complete_before = self.query(audit_log_complete_before)?;
        let (mut count, mut after): (i64, Option<(i64, Id)>) = (0, None);
        loop {
            let page = self.load_audit_entries(from..complete_before, after, PAGE_ENTRIES)?;
            if page.is_empty() {
                return Ok(SealedRange { end: complete_before.max(from), count });
            }
            for (position, entry) in page {
                let is_next = after.is_none_or(|(last, _)| position > last);
                if count >= rows_max && is_next {
                    return Ok(SealedRange { end: position, count });
                }
                entry.chain_to(chain);
                count += 1;
                after = Some((position, entry.id));
            }
        }
    }

    fn chain_batch(
        &mut self,
        batch: &[PositionedEntry],
        seal_state: &mut SealInProgress,
    ) -> Result<(), StoreError> {
        let SealInProgress { chain, event_chain, counter } = seal_state;
        batch.iter().for_each(|(_, entry)| counter.count_entry(entry));
        if batch.is_empty() {
            return Ok(());
        }
        let recognitions = if batch.iter().any(|(_, entry)| entry.kind == kind::RECOGNITION) {
            self.load_recognitions(batch)?
        } else {
            RowsByEntry::from_recognitions(Vec::new())
        };
        let events = self.load_event_digests(batch, &recognitions, None)?;
        let transfers = if batch.len() > 1 { Some(self.load_transfers(batch)?) } else { None };
        for (_, entry) in batch {
            entry.chain_to(chain);
            let mut chain_page = |page: &[TransferRow]| {
                page.iter().for_each(|transfer| {
                    transfer.chain_to(chain);
                    counter.count_transfer(transfer);
                });
            };
            self.visit_transfers(transfers.as_ref(), entry.id, &mut chain_page)?;
            let sent = recognitions.of_entry(entry.id);
            sent.iter().for_each(|recognition| recognition.chain_to(chain));
            events.of_entry(entry, sent).for_each(|event| event_chain.add_event(event));
        }
        Ok(())
    }
}

/// The state of a seal in progress.
struct SealInProgress {
    chain: SealChain,
    event_chain: EventChain,
    counter: StatisticsCounter,
}
