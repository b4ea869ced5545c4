//! Recomputes the chain of seals while the journal is read.

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::fit;

use super::super::Unit;
use super::events::EventChain;
use super::pages::JOURNAL_ENTRIES;
use crate::rows::SealRow;
use crate::rows::schema::seals;
use crate::rows::seals::{BEGINNING, Chain};
use crate::rows::types::Id;

/// The seals that were compared so far.
pub(super) struct Followed {
    pub(super) wanted: Option<[u8; 32]>,
    pub(super) head: [u8; 32],
    pub(super) chain: Chain,
    pub(super) journal_entries: i64,
    /// The events of these journal entries that still exist.
    pub(super) told: EventChain,
    entries_from: i64,
    pub(super) next: Option<SealRow>,
    pub(super) is_broken: bool,
}

impl Unit<'_> {
    /// Starts with the first seal. `wanted` is a head to look for.
    pub(super) fn first_seal(&mut self, wanted: Option<[u8; 32]>) -> Result<Followed, StoreError> {
        let next = self.seal_after(0)?;
        let chain = Chain::after(BEGINNING);
        let told = EventChain::new();
        Ok(Followed {
            wanted,
            head: BEGINNING,
            chain,
            journal_entries: 0,
            told,
            entries_from: i64::MIN,
            next,
            is_broken: false,
        })
    }

    fn seal_after(&mut self, sequence: i64) -> Result<Option<SealRow>, StoreError> {
        self.query(|conn| {
            seals::table
                .filter(seals::sequence.gt(sequence))
                .order(seals::sequence)
                .limit(1)
                .select(SealRow::as_select())
                .get_results(conn)
                .map(|mut seals: Vec<SealRow>| seals.pop())
        })
    }

    /// Compares a seal with the rows that it covers. If one does not match, all later seals do not match
    /// either; only the first mismatch is reported.
    pub(super) fn close_seal(
        &mut self,
        seals: &mut Followed,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let Some(row) = seals.next.take() else { return Ok(()) };
        findings.checked.seals += 1;
        let mut chain = std::mem::replace(&mut seals.chain, Chain::after(BEGINNING));
        let entries = self.follow_entries(seals.entries_from, row.audit_before, &mut chain)?;
        row.chain_to(&mut chain);
        let head = chain.finish();
        let fits =
            row.head == head && row.journal_entries == seals.journal_entries && row.audit_entries == entries;
        findings.demand(fits || seals.is_broken, "seal", || {
            format!("what seal {} was put on is not what stands there now", row.sequence)
        });
        seals.is_broken |= !fits;
        let told = std::mem::replace(&mut seals.told, EventChain::new());
        let (count, digest) = (told.count, told.finish());
        // Delivered events are deleted after their retention: if a seal has lost some, its digest cannot be
        // checked.
        let told_fits = count < row.events || (count == row.events && digest == row.events_digest.as_slice());
        findings.demand(told_fits || seals.is_broken, "sealed events", || {
            format!("the events under seal {} are not those that were sealed", row.sequence)
        });
        (seals.head, seals.journal_entries, seals.chain) = (head, 0, Chain::after(head));
        seals.entries_from = row.audit_before;
        seals.wanted = seals.wanted.filter(|wanted| *wanted != seals.head);
        seals.next = self.seal_after(row.sequence)?;
        let gap = seals.next.as_ref().is_some_and(|next| next.sequence != row.sequence + 1);
        findings.demand(!gap, "seal", || format!("the seal after {} is missing", row.sequence));
        Ok(())
    }

    /// Chains the audit entries from one position to before another, and counts them.
    fn follow_entries(&mut self, from: i64, before: i64, chain: &mut Chain) -> Result<i64, StoreError> {
        let (mut count, mut behind): (i64, Option<(i64, Id)>) = (0, None);
        loop {
            let page = self.entries_in(from..before, behind, JOURNAL_ENTRIES)?;
            let Some((position, last)) = page.last() else { return Ok(count) };
            behind = Some((*position, last.id()));
            count += fit::<i64, _>(page.len());
            page.iter().for_each(|(_, entry)| entry.chain_to(chain));
        }
    }
}
