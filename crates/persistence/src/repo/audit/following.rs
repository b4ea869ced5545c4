//! The chain of seals, followed beside the causes.

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::ports::StoreError;

use super::super::Unit;
use crate::rows::SealRow;
use crate::rows::schema::seals;
use crate::rows::seals::{BEGINNING, Chain};

/// The seals, followed beside the causes.
pub(super) struct Followed {
    pub(super) wanted: Option<[u8; 32]>,
    pub(super) head: [u8; 32],
    pub(super) chain: Chain,
    pub(super) causes: i64,
    pub(super) next: Option<SealRow>,
    pub(super) is_broken: bool,
}

impl Unit<'_> {
    /// The seals from the first on, to be searched for a head.
    pub(super) fn first_seal(&mut self, wanted: Option<[u8; 32]>) -> Result<Followed, StoreError> {
        let next = self.seal_after(0)?;
        let chain = Chain::after(BEGINNING);
        Ok(Followed { wanted, head: BEGINNING, chain, causes: 0, next, is_broken: false })
    }

    fn seal_after(&mut self, sequence: i64) -> Result<Option<SealRow>, StoreError> {
        self.query(|conn| {
            seals::table
                .filter(seals::sequence.gt(sequence))
                .order(seals::sequence)
                .limit(1)
                .select(SealRow::as_select())
                .get_results(conn)
                .map(|mut it: Vec<SealRow>| it.pop())
        })
    }

    /// Compares a seal with what it was put on. One that does not fit spoils all that follow; only the first is told.
    pub(super) fn close_seal(
        &mut self,
        seals: &mut Followed,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let Some(row) = seals.next.take() else { return Ok(()) };
        let head = std::mem::replace(&mut seals.chain, Chain::after(BEGINNING)).finish();
        let fits = row.head == head && row.causes == seals.causes;
        findings.demand(fits || seals.is_broken, "seal", || {
            format!("what seal {} was put on is not what stands there now", row.sequence)
        });
        seals.is_broken |= !fits;
        (seals.head, seals.causes, seals.chain) = (head, 0, Chain::after(head));
        seals.wanted = seals.wanted.filter(|it| *it != seals.head);
        seals.next = self.seal_after(row.sequence)?;
        let gap = seals.next.as_ref().is_some_and(|it| it.sequence != row.sequence + 1);
        findings.demand(!gap, "seal", || format!("the seal after {} is missing", row.sequence));
        Ok(())
    }
}
