//! Making the next seal.

use diesel::prelude::*;
use guerdon_domain::ports::{PendingSeal, Seal, StoreError, Timestamp};
use guerdon_domain::values::fit;

use super::super::super::settled_before;
use super::super::Unit;
use super::counting::Counting;
use super::pages::{CAUSES, Legs, Place, Placed, batches};
use crate::rows::SealRow;
use crate::rows::schema::seals;
use crate::rows::seals::{BEGINNING, Chain};

/// A seal as the domain knows it.
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
                .map(|mut it: Vec<SealRow>| it.pop())
        })
    }

    pub(super) fn make_seal(
        &mut self,
        now: Timestamp,
        causes_max: i64,
    ) -> Result<Option<PendingSeal>, StoreError> {
        let last = self.latest_seal()?;
        let from = last.as_ref().map_or(i64::MIN, |it| it.before);
        let seal = last.as_ref().map(read).transpose();
        let (sequence, head) = self.keep(seal)?.map_or((1, BEGINNING), |it| (it.sequence + 1, it.head));
        let settled = self.query(settled_before)?;
        let (mut chain, mut counting) = (Chain::after(head), Counting::default());
        let (mut causes, mut behind, mut before): (i64, Option<Place>, i64) = (0, None, settled);
        'pages: loop {
            let page = self.causes_after(from, behind, CAUSES.min((causes_max - causes).max(1)))?;
            let fits: Vec<Placed> = page.into_iter().take_while(|it| it.0 < settled).collect();
            if fits.is_empty() {
                break;
            }
            for batch in batches(&fits) {
                // What one transaction wrote is never cut apart.
                let is_full = causes >= causes_max;
                let cut = batch.iter().position(|it| is_full && behind.is_some_and(|at| it.0 > at.0));
                if let Some((rest, (next, _))) = cut.and_then(|it| Some((batch.get(..it)?, batch.get(it)?))) {
                    self.chain(rest, &mut chain, &mut counting)?;
                    causes += fit::<i64, _>(rest.len());
                    before = *next;
                    break 'pages;
                }
                self.chain(batch, &mut chain, &mut counting)?;
                causes += fit::<i64, _>(batch.len());
                behind = batch.last().map(|it| (it.0, it.1.id));
            }
        }
        let seal = Seal { sequence, head: chain.finish(), created_at: now };
        Ok((causes > 0).then(|| PendingSeal { seal, before, causes, counted: counting.end() }))
    }

    fn chain(
        &mut self,
        batch: &[Placed],
        chain: &mut Chain,
        counting: &mut Counting,
    ) -> Result<(), StoreError> {
        batch.iter().for_each(|(_, cause)| counting.cause(cause));
        if batch.is_empty() {
            return Ok(());
        }
        let recognitions = if batch.iter().any(|it| it.1.is_sending()) {
            self.recognitions_of(batch)?
        } else {
            Legs::default()
        };
        if let [(_, alone)] = batch {
            alone.seal(chain);
            let mut page = self.transfers_after(alone.id, -1)?;
            while let Some(leg) = page.last().map(|it| it.leg) {
                page.iter().for_each(|it| {
                    it.seal(chain);
                    counting.transfer(it);
                });
                page = self.transfers_after(alone.id, leg)?;
            }
            recognitions.of(alone.id).iter().for_each(|it| it.seal(chain));
            return Ok(());
        }
        let transfers = self.transfers_of(batch)?;
        for (_, cause) in batch {
            cause.seal(chain);
            transfers.of(cause.id).iter().for_each(|it| {
                it.seal(chain);
                counting.transfer(it);
            });
            recognitions.of(cause.id).iter().for_each(|it| it.seal(chain));
        }
        Ok(())
    }
}
