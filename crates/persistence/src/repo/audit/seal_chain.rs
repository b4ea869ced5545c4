//! Recomputes the chain of seals while the journal is read.

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::checked_cast;

use super::Unit;
use super::events::EventChain;
use super::pages::PAGE_ENTRIES;
use crate::rows::schema::seals;
use crate::rows::seals::{FIRST_HEAD, SealChain};
use crate::rows::{Id, SealRow};

/// The seals that were compared so far.
pub(super) struct SealProgress {
    pub(super) wanted_head: Option<[u8; 32]>,
    pub(super) head: [u8; 32],
    pub(super) chain: SealChain,
    pub(super) journal_entries: i64,
    /// The events of these journal entries that still exist.
    pub(super) events: EventChain,
    audit_from: i64,
    pub(super) next: Option<SealRow>,
    pub(super) is_broken: bool,
}

impl SealProgress {
    /// For an audit that reads only a part of the journal: no seal is checked.
    pub(super) fn without_seals() -> Self {
        Self {
            wanted_head: None,
            head: FIRST_HEAD,
            chain: SealChain::continue_from(FIRST_HEAD),
            journal_entries: 0,
            events: EventChain::new(),
            audit_from: i64::MIN,
            next: None,
            is_broken: false,
        }
    }
}

impl Unit<'_> {
    /// Starts with the first seal. `wanted` is a head to look for.
    pub(super) fn start_at_first_seal(
        &mut self,
        wanted: Option<[u8; 32]>,
    ) -> Result<SealProgress, StoreError> {
        let next = self.find_seal_after(0)?;
        Ok(SealProgress { wanted_head: wanted, next, ..SealProgress::without_seals() })
    }

    fn find_seal_after(&mut self, sequence: i64) -> Result<Option<SealRow>, StoreError> {
        self.query(|conn| {
            seals::table
                .filter(seals::sequence.gt(sequence))
                .order(seals::sequence)
                .select(SealRow::as_select())
                .first(conn)
                .optional()
        })
    }

    /// Compares a seal with the rows that it covers. If one does not match, all later seals do not match
    /// either; only the first mismatch is reported.
    pub(super) fn check_seal(
        &mut self,
        seals: &mut SealProgress,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let Some(row) = seals.next.take() else { return Ok(()) };
        findings.checked.seals += 1;
        let mut chain = std::mem::replace(&mut seals.chain, SealChain::continue_from(FIRST_HEAD));
        let entries = self.chain_audit_entries_between(seals.audit_from, row.audit_before, &mut chain)?;
        row.chain_to(&mut chain);
        let head = chain.finish();
        let matches =
            row.head == head && row.journal_entries == seals.journal_entries && row.audit_entries == entries;
        findings.require(matches || seals.is_broken, "seal", || {
            format!("the entries under seal {} were changed after it was written", row.sequence)
        });
        seals.is_broken |= !matches;
        let events = std::mem::replace(&mut seals.events, EventChain::new());
        let (count, digest) = (events.count, events.finish());
        // Delivered events are deleted after their retention: if some events of a seal were deleted, its
        // digest cannot be checked.
        let events_match =
            count < row.events || (count == row.events && digest == row.events_digest.as_slice());
        findings.require(events_match || seals.is_broken, "sealed events", || {
            format!("the events under seal {} were changed after it was written", row.sequence)
        });
        (seals.head, seals.journal_entries, seals.chain) = (head, 0, SealChain::continue_from(head));
        seals.audit_from = row.audit_before;
        seals.wanted_head = seals.wanted_head.filter(|wanted| *wanted != seals.head);
        seals.next = self.find_seal_after(row.sequence)?;
        let gap = seals.next.as_ref().is_some_and(|next| next.sequence != row.sequence + 1);
        findings.require(!gap, "seal", || format!("the seal after {} is missing", row.sequence));
        Ok(())
    }

    /// Chains and counts the audit entries from one position up to, but not including, another.
    fn chain_audit_entries_between(
        &mut self,
        from: i64,
        before: i64,
        chain: &mut SealChain,
    ) -> Result<i64, StoreError> {
        let (mut count, mut after): (i64, Option<(i64, Id)>) = (0, None);
        loop {
            let page = self.load_audit_entries(from..before, after, PAGE_ENTRIES)?;
            let Some((position, last)) = page.last() else { return Ok(count) };
            after = Some((*position, last.id));
            count += checked_cast::<i64, _>(page.len());
            page.iter().for_each(|(_, entry)| entry.chain_to(chain));
        }
    }
}
