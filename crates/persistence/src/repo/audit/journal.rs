//! Checks the journal in order: each entry with its transfers and its recognitions, and the seals over them.

use std::collections::{HashMap, HashSet};

use diesel::connection::DefaultLoadingMode;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::audit::{AuditOptions, Findings, JournalEntryAudit};
use guerdon_domain::ports::{EventBodies, StoreError};
use guerdon_domain::values::{JournalEntryId, RecognitionId, checked_cast};

use super::pages::{JournalPosition, PAGE_ENTRIES, PositionedEntry, split_into_batches};
use super::seal_chain::SealProgress;
use super::{PartStatus, SnapshotTimer, Unit};
use crate::rows::conditions::IS_AMENDMENT;
use crate::rows::schema::journal_entries;
use crate::rows::{Id, RecognitionRow, TransferRow};

/// The state of the check while it reads the journal.
pub(super) struct JournalProgress {
    /// The last entry that was checked.
    after: Option<JournalPosition>,
    pub(super) transfers: i64,
    recognitions: i64,
    /// For each unfinished distribution, the number of receivers that are still to be paid.
    unpaid_receivers: HashMap<Id<JournalEntryId>, i64>,
    seals: SealProgress,
}

impl JournalProgress {
    fn new(seals: SealProgress) -> Self {
        Self { after: None, transfers: 0, recognitions: 0, unpaid_receivers: HashMap::new(), seals }
    }

    /// For an audit of one company, which covers neither unfinished distributions nor seals.
    pub(super) fn of_company() -> Self {
        Self::new(SealProgress::without_seals())
    }

    /// Adds the rows that were read.
    pub(super) fn report_counts(&self, findings: &mut Findings) {
        findings.checked.transfers += checked_cast::<u64, _>(self.transfers);
        findings.checked.recognitions += checked_cast::<u64, _>(self.recognitions);
    }
}

impl Unit<'_> {
    /// Continues after the last entry that was checked. Another snapshot can follow after a sealed entry: neither it
    /// nor an earlier entry changes, no entry is inserted before it, and no later seal covers it. Its recognitions and
    /// events may change, but are compared only with rows of the same snapshot or with digests of their first state.
    pub(super) fn audit_journal(
        &mut self,
        progress: &mut Option<Box<JournalProgress>>,
        timer: &SnapshotTimer<'_>,
        options: &AuditOptions<'_>,
        findings: &mut Findings,
    ) -> Result<PartStatus, StoreError> {
        let progress = match progress {
            Some(progress) => progress,
            None => progress.insert(Box::new(JournalProgress::new(self.start_at_first_seal(options.head)?))),
        };
        progress.unpaid_receivers = self.unpaid_receivers()?;
        let sealed_before = self.load_latest_seal()?.map_or(i64::MIN, |seal| seal.journal_before);
        loop {
            let page = self.load_entries_after(i64::MIN, progress.after, PAGE_ENTRIES)?;
            if page.is_empty() {
                break;
            }
            for batch in split_into_batches(&page) {
                self.record_failure(options.pacer.ensure_running())?;
                self.audit_batch(batch, progress, options.bodies, findings)?;
                progress.after = batch.last().map(|(position, entry)| (*position, entry.id));
                let is_sealed = progress.after.is_some_and(|(position, _)| position < sealed_before);
                if is_sealed && timer.is_over() {
                    return Ok(PartStatus::Incomplete);
                }
            }
        }
        while progress.seals.next.is_some() {
            self.check_seal(&mut progress.seals, findings)?;
        }
        findings.require(progress.seals.wanted_head.is_none(), "head", || {
            "no seal has this head: entries that it covers were changed or removed".to_owned()
        });
        for id in progress.unpaid_receivers.keys() {
            findings.add_violation("in progress", || {
                format!("an unfinished distribution has no journal entry {}", id.0)
            });
        }
        progress.report_counts(findings);
        Ok(PartStatus::Complete)
    }

    pub(super) fn audit_batch(
        &mut self,
        batch: &[PositionedEntry],
        progress: &mut JournalProgress,
        bodies: &dyn EventBodies,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        findings.checked.journal_entries += checked_cast::<u64, _>(batch.len());
        let refunded: Vec<Id<JournalEntryId>> =
            batch.iter().filter_map(|(_, entry)| entry.refunded_redemption()).collect();
        let redemptions = self.load_entries_by_id(&refunded)?;
        let recognitions = self.load_recognitions(batch)?;
        let events = self.load_event_digests(batch, &recognitions, Some(bodies))?;
        self.audit_event_bodies(batch, &recognitions, &events, findings)?;
        let mut changed = Vec::new();
        let transfers = if batch.len() > 1 { Some(self.load_transfers(batch)?) } else { None };
        for (position, row) in batch {
            while progress.seals.next.as_ref().is_some_and(|next| *position >= next.journal_before) {
                self.check_seal(&mut progress.seals, findings)?;
            }
            progress.seals.journal_entries += 1;
            row.chain_to(&mut progress.seals.chain);
            let redemption =
                row.refunded_redemption().and_then(|id| redemptions.get(&id)?.to_journal_entry().ok());
            let entry = row
                .to_journal_entry()
                .inspect_err(|error| findings.add_violation("journal entry", || error.to_string()))
                .ok();
            let mut audit = entry.as_ref().map(|entry| JournalEntryAudit::new(entry, redemption.as_ref()));
            if let Some(unpaid) = progress.unpaid_receivers.remove(&row.id) {
                audit = audit.map(|audit| audit.with_unpaid_receivers(unpaid));
            }
            let sent = recognitions.of_entry(row.id);
            progress.recognitions += checked_cast::<i64, _>(sent.len());
            changed.extend(sent.iter().filter(|sent| !sent.matches_entry(row)).map(|sent| sent.id));
            let mut sent = sent.iter().peekable();
            let mut audit_page = |page: &[TransferRow]| {
                progress.transfers += checked_cast::<i64, _>(page.len());
                for transfer in page {
                    transfer.chain_to(&mut progress.seals.chain);
                    audit_transfer(audit.as_mut(), transfer, &mut sent, findings);
                }
            };
            self.visit_transfers(transfers.as_ref(), row.id, &mut audit_page)?;
            let sent_rows = recognitions.of_entry(row.id);
            sent_rows.iter().for_each(|sent_row| sent_row.chain_to(&mut progress.seals.chain));
            for event in events.of_entry(row, sent_rows) {
                progress.seals.events.add_event(event);
                findings.checked.events += 1;
            }
            if let Some(mut audit) = audit {
                sent.for_each(|recognition| {
                    audit.check_recognition(&recognition.to_stored_recognition(), findings)
                });
                audit.check_completeness(findings);
            }
        }
        self.audit_changed_recognitions(&changed, findings)
    }

    /// Checks that a recognition that differs from its journal entry was amended; `tables` checks its amendments.
    fn audit_changed_recognitions(
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
                .filter(sql::<Bool>(IS_AMENDMENT).and(journal_entries::subject_id.eq_any(&changed)))
                .select(journal_entries::subject_id)
                .load_iter::<_, DefaultLoadingMode>(conn)?
                .collect()
        })?;
        for id in changed.iter().filter(|id| !amended.contains(&Some(**id))) {
            findings.add_violation("amendment", || {
                format!("recognition {} differs from what was sent, and no amendment is recorded", id.0)
            });
        }
        Ok(())
    }
}

/// Checks a transfer, after the recognition that it pays for.
fn audit_transfer<'a>(
    audit: Option<&mut JournalEntryAudit<'_>>,
    transfer: &TransferRow,
    sent: &mut std::iter::Peekable<impl Iterator<Item = &'a RecognitionRow>>,
    findings: &mut Findings,
) {
    let Some(audit) = audit else { return };
    while let Some(recognition) = sent.next_if(|recognition| recognition.leg <= transfer.leg) {
        audit.check_recognition(&recognition.to_stored_recognition(), findings);
    }
    audit.check_transfer(&transfer.to_stored_transfer(), findings);
}
