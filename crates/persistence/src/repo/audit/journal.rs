//! Checks the journal in its order: each entry with its transfers and its recognitions, and the seals over
//! them.

use guerdon_domain::values::{JournalEntryId, RecognitionId, fit};
use std::collections::{HashMap, HashSet};

use diesel::connection::DefaultLoadingMode;
use diesel::prelude::*;
use guerdon_domain::audit::{Examination, Findings, JournalEntryAudit};
use guerdon_domain::ports::StoreError;

use super::super::Unit;
use super::following::Followed;
use super::pages::{JOURNAL_ENTRIES, Placed, batches};
use crate::rows::schema::{journal_entries, recognitions, transfers};
use crate::rows::types::Id;
use crate::rows::{RecognitionFact, TransferRow, kind};

/// The state of the check while it reads the journal.
struct Walk {
    transfers: i64,
    recognitions: i64,
    /// For each unfinished distribution, the number of receivers that are still to be paid.
    waiting: HashMap<Id<JournalEntryId>, i64>,
    seals: Followed,
}

impl Unit<'_> {
    pub(super) fn audit_journal(
        &mut self,
        asked: &Examination<'_>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let (waiting, seals) = (self.waiting()?, self.first_seal(asked.head)?);
        let mut walk = Walk { transfers: 0, recognitions: 0, waiting, seals };
        let mut behind = None;
        loop {
            let page = self.journal_entries_after(i64::MIN, behind, JOURNAL_ENTRIES)?;
            let Some(last) = page.last() else { break };
            behind = Some((last.0, last.1.id));
            for batch in batches(&page) {
                self.judge_batch(batch, &mut walk, asked, findings)?;
            }
        }
        while walk.seals.next.is_some() {
            self.close_seal(&mut walk.seals, findings)?;
        }
        findings.demand(walk.seals.wanted.is_none(), "head", || {
            "no seal has this head: something that was sealed before it was changed or removed".to_owned()
        });
        for id in walk.waiting.keys() {
            findings.add("under way", || format!("a distribution is under way and has no cause {}", id.0));
        }
        findings.checked.transfers += fit::<u64, _>(walk.transfers);
        findings.checked.recognitions += fit::<u64, _>(walk.recognitions);
        self.audit_orphans(&walk, findings)
    }

    fn judge_batch(
        &mut self,
        batch: &[Placed],
        walk: &mut Walk,
        asked: &Examination<'_>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        findings.checked.journal_entries += fit::<u64, _>(batch.len());
        let refunded: Vec<Id<JournalEntryId>> =
            batch.iter().filter_map(|(_, cause)| cause.refunds()).collect();
        let redemptions = self.journal_entries_of(&refunded)?;
        let recognitions = self.recognitions_of(batch)?;
        let events = self.events_of(batch, &recognitions, Some(asked.bodies))?;
        self.judge_events(batch, &recognitions, &events, findings)?;
        let mut changed = Vec::new();
        let transfers = if batch.len() > 1 { Some(self.transfers_of(batch)?) } else { None };
        for (position, row) in batch {
            while walk.seals.next.as_ref().is_some_and(|next| *position >= next.journal_before) {
                self.close_seal(&mut walk.seals, findings)?;
            }
            walk.seals.journal_entries += 1;
            row.seal(&mut walk.seals.chain);
            let redemption = row.refunds().and_then(|id| redemptions.get(&id));
            let redemption = redemption.and_then(|redemption| redemption.read().ok());
            let cause = row.read();
            if let Err(cause) = &cause {
                findings.add("cause", || cause.to_string());
            }
            let cause = cause.ok();
            let mut judge = cause.as_ref().map(|cause| JournalEntryAudit::new(cause, redemption.as_ref()));
            if let Some(waiting) = walk.waiting.remove(&row.id) {
                judge = judge.map(|judge| judge.under_way(waiting));
            }
            let sent = recognitions.of(row.id);
            walk.recognitions += fit::<i64, _>(sent.len());
            changed.extend(sent.iter().filter(|fact| !fact.is_as_sent_by(row)).map(|fact| fact.id));
            let mut sent = sent.iter().peekable();
            let mut take = |page: &[TransferRow]| {
                walk.transfers += fit::<i64, _>(page.len());
                for transfer in page {
                    transfer.seal(&mut walk.seals.chain);
                    take(judge.as_mut(), transfer, &mut sent, findings);
                }
            };
            match &transfers {
                Some(all) => take(all.of(row.id)),
                None => {
                    let mut page = self.transfers_after(row.id, -1)?;
                    while let Some(last) = page.last().map(|transfer| transfer.leg) {
                        take(&page);
                        page = self.transfers_after(row.id, last)?;
                    }
                }
            }
            let sent_rows = recognitions.of(row.id);
            sent_rows.iter().for_each(|sent_row| sent_row.seal(&mut walk.seals.chain));
            for event in events.of(row, sent_rows) {
                walk.seals.told.add(event);
                findings.checked.events += 1;
            }
            if let Some(mut judge) = judge {
                sent.for_each(|recognition| judge.recognition(&recognition.sent(), findings));
                judge.end(findings);
            }
        }
        self.judge_changed(&changed, findings)
    }

    /// A recognition that differs from its sending must have been amended; `tables` checks its amendments.
    fn judge_changed(
        &mut self,
        changed: &[Id<RecognitionId>],
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        if changed.is_empty() {
            return Ok(());
        }
        let changed: Vec<Id> = changed.iter().map(|id| Id(id.0.as_uuid())).collect();
        let amended: HashSet<Option<Id>> = self.query(|conn| {
            journal_entries::table
                .filter(
                    journal_entries::kind
                        .eq(kind::AMENDMENT)
                        .and(journal_entries::subject_id.eq_any(&changed)),
                )
                .select(journal_entries::subject_id)
                .load_iter::<_, DefaultLoadingMode>(conn)?
                .collect()
        })?;
        for id in changed.iter().filter(|id| !amended.contains(&Some(**id))) {
            findings.add("amendment", || {
                format!("recognition {} is not as it was sent, and nobody changed it", id.0)
            });
        }
        Ok(())
    }

    /// The rows that were read with the journal must be all rows; any others have no journal entry.
    fn audit_orphans(&mut self, walk: &Walk, findings: &mut Findings) -> Result<(), StoreError> {
        let there: i64 = self.query(|conn| transfers::table.count().get_result(conn))?;
        findings.demand(there == walk.transfers, "transfer's cause", || {
            format!("{} transfers have no cause", there - walk.transfers)
        });
        let there: i64 = self.query(|conn| recognitions::table.count().get_result(conn))?;
        findings.demand(there == walk.recognitions, "recognition's cause", || {
            format!("{} recognitions have no cause", there - walk.recognitions)
        });
        Ok(())
    }
}

/// Checks a transfer, after the recognition that it pays for.
fn take<'a>(
    judge: Option<&mut JournalEntryAudit<'_>>,
    it: &TransferRow,
    sent: &mut std::iter::Peekable<impl Iterator<Item = &'a RecognitionFact>>,
    findings: &mut Findings,
) {
    let Some(judge) = judge else { return };
    while let Some(recognition) = sent.next_if(|recognition| recognition.leg() <= it.leg) {
        judge.recognition(&recognition.sent(), findings);
    }
    judge.transfer(&it.movement(), findings);
}
