//! The causes in their order: each with its transfers, its recognitions and what was told of it, and the seals over them.

use std::collections::HashMap;

use diesel::prelude::*;
use guerdon_domain::audit::{CauseJudge, Findings};
use guerdon_domain::causes::{Act, Cause};
use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{ReadSettings, Setting, StoreError};
use guerdon_domain::values::{CompanyId, ProviderId};

use super::super::Unit;
use super::following::Followed;
use super::pages::{CAUSES, Placed, batches};
use crate::rows::{EventFact, RecognitionFact, TransferRow};
use crate::schema::{companies, events, recognitions, transfers};
use crate::types::Id;

/// What the walk through the journal has come to know.
#[derive(Default)]
struct Walk {
    transfers: i64,
    /// To how many each distribution that is under way is still to give.
    waiting: HashMap<Id, i64>,
    recognitions: i64,
    events: i64,
    companies: HashMap<CompanyId, Company>,
    amended: HashMap<Id, Amended>,
    /// Recognitions that are not as they were sent.
    changed: HashMap<Id, Amended>,
    /// From when on events may not be missing, in microseconds.
    events_kept_from: i64,
}

/// What a company must say of itself.
struct Company {
    rate: i64,
    provider: ProviderId,
}

/// What amendments made of a recognition, or what it says of itself.
#[derive(Clone, PartialEq, Eq)]
struct Amended {
    share: bool,
    message: Option<String>,
}

impl Unit<'_> {
    pub(super) fn audit_journal(
        &mut self,
        head: Option<[u8; 32]>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let pruned = self.setting(Setting::EventsPrunedBefore)?;
        let events_kept_from = pruned.and_then(|it| it.parse().ok()).unwrap_or(i64::MIN);
        let waiting = self.waiting()?;
        let mut walk = Walk { events_kept_from, waiting, ..Walk::default() };
        let mut seals = self.first_seal(head)?;
        let mut behind = None;
        loop {
            let page = self.causes_after(i64::MIN, behind, CAUSES)?;
            let Some(last) = page.last() else { break };
            behind = Some((last.0, last.1.id));
            for batch in batches(&page) {
                self.judge_batch(batch, &mut walk, &mut seals, findings)?;
            }
        }
        while seals.next.is_some() {
            self.close_seal(&mut seals, findings)?;
        }
        findings.demand(seals.wanted.is_none(), "head", || {
            "no seal has this head: something that was sealed before it was changed or removed".to_owned()
        });
        for id in walk.waiting.keys() {
            findings.add("under way", || format!("a distribution is under way and has no cause {}", id.0));
        }
        self.audit_amendments(&walk, findings)?;
        self.audit_companies(walk.companies, findings)?;
        self.audit_orphans((walk.transfers, walk.recognitions, walk.events), findings)
    }

    fn judge_batch(
        &mut self,
        batch: &[Placed],
        walk: &mut Walk,
        seals: &mut Followed,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let ids: Vec<Id> = batch.iter().map(|it| it.1.id).collect();
        let refunded: Vec<Id> =
            batch.iter().filter(|it| it.1.is_refund()).filter_map(|it| it.1.subject()).collect();
        let redemptions = self.causes_of(&refunded)?;
        let mut recognitions = self.recognitions_of(&ids)?;
        let told: Vec<Id> =
            recognitions.values().flatten().map(|it| it.id).chain(ids.iter().copied()).collect();
        let events = self.events_of(&told)?;
        walk.events += i64::try_from(events.len()).unwrap_or(0);
        let mut transfers = if batch.len() > 1 { self.transfers_of(&ids)? } else { HashMap::new() };
        for (position, row) in batch {
            while seals.next.as_ref().is_some_and(|it| *position >= it.before) {
                self.close_seal(seals, findings)?;
            }
            seals.causes += 1;
            row.seal(&mut seals.chain);
            let recognitions = recognitions.remove(&row.id).unwrap_or_default();
            walk.recognitions += i64::try_from(recognitions.len()).unwrap_or(0);
            let redemption = row.subject().filter(|_| row.is_refund()).and_then(|it| redemptions.get(&it));
            let redemption = redemption.and_then(|it| it.clone().read().ok());
            let cause = row.clone().read();
            if let Err(cause) = &cause {
                findings.add("cause", || cause.to_string());
            }
            let cause = cause.ok();
            let mut judge = cause.as_ref().map(|it| CauseJudge::new(it, redemption.as_ref()));
            if let Some(waiting) = walk.waiting.remove(&row.id) {
                judge = judge.map(|it| it.under_way(waiting));
            }
            let mut sent = recognitions.iter().peekable();
            let mut leg = -1;
            loop {
                let page = match batch {
                    [_] => self.transfers_after(row.id, leg)?,
                    _ => transfers.remove(&row.id).unwrap_or_default(),
                };
                let Some(last) = page.last() else { break };
                leg = last.leg;
                walk.transfers += i64::try_from(page.len()).unwrap_or(0);
                for it in &page {
                    it.seal(&mut seals.chain);
                    take(judge.as_mut(), it, &mut sent, findings);
                }
            }
            if let Some(mut judge) = judge {
                sent.for_each(|it| judge.recognition(&it.sent(), findings));
                judge.end(findings);
            }
            if let Some(cause) = &cause {
                walk.note(cause, &recognitions, findings);
                tell(cause, &recognitions, &events, walk.events_kept_from, findings);
            }
        }
        Ok(())
    }

    fn audit_amendments(&mut self, walk: &Walk, findings: &mut Findings) -> Result<(), StoreError> {
        for id in walk.changed.keys().filter(|it| !walk.amended.contains_key(it)) {
            findings.add("amendment", || {
                format!("recognition {} is not as it was sent, and nobody changed it", id.0)
            });
        }
        for (id, amended) in &walk.amended {
            let found: Option<(bool, Option<String>)> = self.query(|conn| {
                recognitions::table
                    .filter(recognitions::id.eq(*id))
                    .select((recognitions::share, recognitions::message))
                    .get_result(conn)
                    .optional()
            })?;
            let fits =
                found.is_some_and(|(share, message)| share == amended.share && message == amended.message);
            findings.demand(fits, "amendment", || format!("recognition {} is not as it was amended", id.0));
        }
        Ok(())
    }

    /// Every company has the rate and the provider that its causes say.
    fn audit_companies(
        &mut self,
        mut known: HashMap<CompanyId, Company>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let mut after = Id(uuid::Uuid::nil());
        loop {
            let page: Vec<(Id, Id, i32)> = self.query(|conn| {
                companies::table
                    .filter(companies::id.gt(after))
                    .order(companies::id)
                    .limit(CAUSES)
                    .select((companies::id, companies::provider_id, companies::points_per_dollar))
                    .get_results(conn)
            })?;
            let Some(last) = page.last() else { break };
            after = last.0;
            for (id, provider, rate) in page {
                let said = known.remove(&CompanyId::from_uuid(id.0));
                let fits =
                    said.is_some_and(|it| it.rate == i64::from(rate) && it.provider.as_uuid() == provider.0);
                findings.demand(fits, "company's causes", || {
                    format!("company {} has another rate or provider than its causes say", id.0)
                });
            }
        }
        for id in known.into_keys() {
            findings.add("company's causes", || format!("company {id} has causes and is missing"));
        }
        Ok(())
    }

    /// What was met on the walk is all there is: else something has no cause.
    fn audit_orphans(&mut self, met: (i64, i64, i64), findings: &mut Findings) -> Result<(), StoreError> {
        let there: i64 = self.query(|conn| transfers::table.count().get_result(conn))?;
        findings.demand(there == met.0, "transfer's cause", || {
            format!("{} transfers have no cause", there - met.0)
        });
        let there: i64 = self.query(|conn| recognitions::table.count().get_result(conn))?;
        findings.demand(there == met.1, "recognition's cause", || {
            format!("{} recognitions have no cause", there - met.1)
        });
        let there: i64 = self.query(|conn| events::table.count().get_result(conn))?;
        findings
            .demand(there == met.2, "event's cause", || format!("{} events have no cause", there - met.2));
        Ok(())
    }
}

/// Gives a transfer to the judge, behind the recognition that it pays for.
fn take<'a>(
    judge: Option<&mut CauseJudge<'_>>,
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

impl Walk {
    fn note(&mut self, cause: &Cause, recognitions: &[RecognitionFact], findings: &mut Findings) {
        let company = self.companies.entry(cause.company_id);
        let known =
            company.or_insert_with(|| Company { rate: cause.rate.get(), provider: cause.provider_id });
        match &cause.act {
            Act::Founding | Act::Rate => known.rate = cause.rate.get(),
            Act::Move { to } => known.provider = *to,
            Act::Sending(sending) => {
                for it in recognitions.iter().filter(|it| it.message.is_some() || it.share != sending.share) {
                    self.changed.insert(it.id, Amended { share: sending.share, message: None });
                }
            }
            Act::Amendment { recognition, message, share } => {
                let id = Id(recognition.as_uuid());
                let sent = self.amended.get(&id).or_else(|| self.changed.get(&id)).cloned();
                findings.demand(sent.is_some(), "amendment", || {
                    format!("recognition {recognition} was amended and is not there, or is as it was sent")
                });
                let mut amended = sent.unwrap_or(Amended { share: false, message: None });
                amended.share = share.unwrap_or(amended.share);
                if let Some(message) = message {
                    amended.message = Some(message.as_str().to_owned());
                }
                self.amended.insert(id, amended);
            }
            Act::Deposit { .. }
            | Act::Distribution { .. }
            | Act::Redemption { .. }
            | Act::Refund { .. }
            | Act::Override { .. }
            | Act::Deletion { .. } => {}
        }
    }
}

/// Everything that the provider is told of has an event, but for what is old enough to be gone.
fn tell(
    cause: &Cause,
    recognitions: &[RecognitionFact],
    events: &HashMap<Id, EventFact>,
    kept_from: i64,
    findings: &mut Findings,
) {
    let own = Id(cause.id.as_uuid());
    let wanted: Vec<(Id, EventKind)> = match &cause.act {
        Act::Sending(_) => recognitions.iter().map(|it| (it.id, EventKind::RecognitionReceived)).collect(),
        Act::Amendment { .. } => vec![(own, EventKind::RecognitionUpdated)],
        Act::Redemption { .. } => vec![(own, EventKind::RedemptionCreated)],
        _ => Vec::new(),
    };
    let may_be_gone = crate::types::At(cause.created_at).micros() < kept_from;
    for (id, kind) in wanted {
        let fits = match events.get(&id) {
            None => may_be_gone,
            Some(it) => {
                it.kind == kind.code()
                    && it.cause_id == own
                    && it.company_id.0 == cause.company_id.as_uuid()
                    && it.provider_id.0 == cause.provider_id.as_uuid()
            }
        };
        findings.demand(fits, "told once", || format!("{} {} has no event of its own", kind.name(), id.0));
    }
}
