//! Computes the next seal.

use diesel::prelude::*;
use guerdon_domain::ports::{PendingSeal, Seal, StoreError, Stretch, Timestamp};
use guerdon_domain::values::fit;

use super::super::super::{complete_before, settled_rows_before};
use super::super::Unit;
use super::counting::Counting;
use super::events::EventChain;
use super::pages::{JOURNAL_ENTRIES, Legs, Place, Placed, batches};
use crate::rows::schema::seals;
use crate::rows::seals::{BEGINNING, Chain};
use crate::rows::types::Id;
use crate::rows::{SealRow, TransferRow};

/// Converts a seal.
pub(super) fn read(row: &SealRow) -> Result<Seal, StoreError> {
    let head = row.head.as_slice().try_into().map_err(|_length| StoreError::Corrupt {
        table: "seals",
        column: "head",
        id: row.sequence.to_string(),
    })?;
    Ok(Seal { sequence: row.sequence, head, created_at: row.created_at.0 })
}

impl Unit<'_> {
    pub(super) fn latest_seal(&mut self) -> Result<Option<SealRow>, StoreError> {
        self.query(|conn| {
            seals::table
                .order(seals::sequence.desc())
                .limit(1)
                .select(SealRow::as_select())
                .get_results(conn)
                .map(|mut seals: Vec<SealRow>| seals.pop())
        })
    }

    /// Computes the next seal. `rows_max` limits journal entries and audit entries separately.
    pub(super) fn make_seal(
        &mut self,
        now: Timestamp,
        rows_max: i64,
    ) -> Result<Option<PendingSeal>, StoreError> {
        let last = self.latest_seal()?;
        let (from, entries_from) =
            last.as_ref().map_or((i64::MIN, i64::MIN), |seal| (seal.journal_before, seal.audit_before));
        let seal = last.as_ref().map(read).transpose();
        let (sequence, head) = self.keep(seal)?.map_or((1, BEGINNING), |seal| (seal.sequence + 1, seal.head));
        let mut making =
            Making { chain: Chain::after(head), told: EventChain::new(), counting: Counting::default() };
        let journal_entries = self.seal_journal_entries(from, rows_max, &mut making)?;
        let Making { mut chain, told, counting } = making;
        let entries = self.seal_entries(entries_from, rows_max, &mut chain)?;
        if journal_entries.count + entries.count == 0 {
            return Ok(None);
        }
        let (events, counted) = (told.count, counting.end());
        let seal = Seal { sequence, head: BEGINNING, created_at: now };
        let mut pending =
            PendingSeal { seal, journal_entries, entries, events, events_digest: told.finish(), counted };
        SealRow::of(&pending).chain_to(&mut chain);
        pending.seal.head = chain.finish();
        Ok(Some(pending))
    }

    fn seal_journal_entries(
        &mut self,
        from: i64,
        rows_max: i64,
        making: &mut Making,
    ) -> Result<Stretch, StoreError> {
        let settled = self.query(complete_before)?;
        let (mut count, mut behind): (i64, Option<Place>) = (0, None);
        loop {
            let page =
                self.journal_entries_after(from, behind, JOURNAL_ENTRIES.min((rows_max - count).max(1)))?;
            let fits: Vec<Placed> =
                page.into_iter().take_while(|(position, _)| *position < settled).collect();
            if fits.is_empty() {
                return Ok(Stretch { before: settled.max(from), count });
            }
            for batch in batches(&fits) {
                // The rows of one transaction are never split.
                let is_full = count >= rows_max;
                let cut = batch
                    .iter()
                    .position(|(position, _)| is_full && behind.is_some_and(|at| *position > at.0));
                if let Some((rest, (next, _))) = cut.and_then(|at| Some((batch.get(..at)?, batch.get(at)?))) {
                    self.chain(rest, making)?;
                    return Ok(Stretch { before: *next, count: count + fit::<i64, _>(rest.len()) });
                }
                self.chain(batch, making)?;
                count += fit::<i64, _>(batch.len());
                behind = batch.last().map(|(position, cause)| (*position, cause.id));
            }
        }
    }

    /// Chains the next audit entries.
    fn seal_entries(&mut self, from: i64, rows_max: i64, chain: &mut Chain) -> Result<Stretch, StoreError> {
        let settled = self.query(|conn| settled_rows_before(conn, "audit_entries"))?;
        let (mut count, mut behind): (i64, Option<(i64, Id)>) = (0, None);
        loop {
            let page = self.entries_in(from..settled, behind, JOURNAL_ENTRIES)?;
            if page.is_empty() {
                return Ok(Stretch { before: settled.max(from), count });
            }
            for (position, entry) in page {
                let is_next = behind.is_none_or(|(last, _)| position > last);
                if count >= rows_max && is_next {
                    return Ok(Stretch { before: position, count });
                }
                entry.chain_to(chain);
                count += 1;
                behind = Some((position, entry.id()));
            }
        }
    }

    fn chain(&mut self, batch: &[Placed], making: &mut Making) -> Result<(), StoreError> {
        let Making { chain, told, counting } = making;
        batch.iter().for_each(|(_, cause)| counting.cause(cause));
        if batch.is_empty() {
            return Ok(());
        }
        let recognitions = if batch.iter().any(|(_, cause)| cause.is_sending()) {
            self.recognitions_of(batch)?
        } else {
            Legs::default()
        };
        let events = self.events_of(batch, &recognitions, None)?;
        let transfers = if batch.len() > 1 { Some(self.transfers_of(batch)?) } else { None };
        for (_, cause) in batch {
            cause.seal(chain);
            let mut take = |page: &[TransferRow]| {
                page.iter().for_each(|transfer| {
                    transfer.seal(chain);
                    counting.transfer(transfer);
                });
            };
            match &transfers {
                Some(all) => take(all.of(cause.id)),
                None => {
                    let mut page = self.transfers_after(cause.id, -1)?;
                    while let Some(last) = page.last().map(|transfer| transfer.leg) {
                        take(&page);
                        page = self.transfers_after(cause.id, last)?;
                    }
                }
            }
            let sent = recognitions.of(cause.id);
            sent.iter().for_each(|recognition| recognition.seal(chain));
            events.of(cause, sent).for_each(|event| told.add(event));
        }
        Ok(())
    }
}

/// The state of a seal in progress.
struct Making {
    chain: Chain,
    told: EventChain,
    counting: Counting,
}
