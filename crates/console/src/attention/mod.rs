//! Finds what needs the operator's attention, most urgent first.

use time::{Duration, OffsetDateTime};

use crate::frame::Frame;
use crate::model::{Certificate, Named, Overview, Performance};
use crate::numbers;
use crate::parts::Tone;
use crate::times;

/// Six attempts at an event have failed by then.
const LONG_WAIT: Duration = Duration::hours(1);
/// The ledger should be verified every night.
const VERIFIED_WITHIN: Duration = Duration::hours(36);
const CERTIFICATE_DAYS: i64 = 30;

/// Each of this many failing receivers has its own note; the rest share one.
const FAILING_RECEIVERS_NAMED: usize = 5;

/// Something that needs the operator's attention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) tone: Tone,
    pub(crate) text: String,
    /// The page that shows it, and the text of the link.
    pub(crate) link: Option<(String, &'static str)>,
    pub(crate) command: Option<&'static str>,
}

impl Note {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into(), link: None, command: None }
    }

    fn at(self, path: impl Into<String>, says: &'static str) -> Self {
        Self { link: Some((path.into(), says)), ..self }
    }

    fn by(self, command: &'static str) -> Self {
        Self { command: Some(command), ..self }
    }
}

/// Returns all notes, most urgent first.
pub(crate) fn notes(overview: &Overview, frame: &Frame) -> Vec<Note> {
    let mut notes = ledger(overview, frame.now);
    notes.extend(failing_receivers(overview));
    notes.extend(deliveries(overview, frame.now));
    notes.extend(others(overview, frame));
    // The sort is stable: within a tone the order does not change.
    notes.sort_by_key(|note| note.tone != Tone::Bad);
    notes
}

fn ledger(overview: &Overview, now: OffsetDateTime) -> Vec<Note> {
    let ledger = &overview.ledger;
    let mut notes = Vec::new();
    if ledger.unbalanced_companies > 0 {
        let companies = numbers::of(ledger.unbalanced_companies, "company", "companies");
        let text =
            format!("The accounts of {companies} do not add up. Stop the service and verify the ledger.");
        notes.push(Note::new(Tone::Bad, text).by("guerdon verify"));
    }
    match &ledger.last_verification {
        Some(it) if it.violations > 0 => {
            let found = numbers::of(it.violations, "broken invariant", "broken invariants");
            let text = format!("The last verification found {found}.");
            notes.push(Note::new(Tone::Bad, text).by("guerdon verify"));
        }
        Some(it) if now - it.ended_at > VERIFIED_WITHIN => {
            let text = format!("The ledger was last verified {}.", times::ago(now, it.ended_at));
            notes.push(Note::new(Tone::Warn, text).by("guerdon verify"));
        }
        Some(_) => {}
        None => {
            let text = "The ledger was never verified. Let it be done each night.";
            notes.push(Note::new(Tone::Warn, text).by("guerdon verify"));
        }
    }
    notes
}

fn failing_receivers(overview: &Overview) -> Vec<Note> {
    let all = &overview.troubles.failing_receivers;
    let note = |(provider, recent): &(Named, Performance)| {
        let attempts = numbers::of(recent.attempts, "delivery attempt", "delivery attempts");
        let confirmed = numbers::counted(recent.confirmed);
        let text = format!(
            "The receiver of {} is failing: {confirmed} of {attempts} confirmed in this hour and the one before.",
            provider.name
        );
        Note::new(Tone::Bad, text).at(format!("/providers/{}", provider.id), "See why")
    };
    let mut notes: Vec<Note> = all.iter().take(FAILING_RECEIVERS_NAMED).map(note).collect();
    if let Ok(more @ 1..) = u64::try_from(all.len().saturating_sub(FAILING_RECEIVERS_NAMED)) {
        let text = format!("{} failing, too.", numbers::of(more, "more receiver is", "more receivers are"));
        notes.push(Note::new(Tone::Bad, text).at("/providers?sort=success", "See which"));
    }
    notes
}

fn deliveries(overview: &Overview, now: OffsetDateTime) -> Vec<Note> {
    let deliveries = &overview.deliveries;
    let mut notes = Vec::new();
    if !deliveries.exhausted.is_zero() {
        let text = format!("{} given up.", deliveries.exhausted.of("event was", "events were"));
        notes.push(Note::new(Tone::Bad, text).at("/events?state=exhausted", "See why"));
    }
    if !deliveries.unaddressed.is_zero() {
        let text =
            format!("{} no callback URL to go to.", deliveries.unaddressed.of("event had", "events had"));
        notes.push(Note::new(Tone::Warn, text).at("/events?state=unaddressed", "See whose"));
    }
    if let Some(age) =
        deliveries.oldest_pending_at.map(|created_at| now - created_at).filter(|age| *age > LONG_WAIT)
    {
        let text = format!("The oldest event waits for {}.", numbers::seconds(age.whole_seconds()));
        notes.push(Note::new(Tone::Warn, text).at("/events?state=pending", "See what waits"));
    }
    if !overview.mails.given_up.is_zero() {
        let text = format!(
            "{} given up. The log tells which.",
            overview.mails.given_up.of("mail was", "mails were")
        );
        notes.push(Note::new(Tone::Warn, text));
    }
    notes
}

fn others(overview: &Overview, frame: &Frame) -> Vec<Note> {
    let troubles = &overview.troubles;
    let mut notes = Vec::new();
    if frame.is_in_maintenance {
        let text = "Maintenance is on: every request is answered 503.";
        notes.push(Note::new(Tone::Warn, text).by("guerdon maintenance off"));
    }
    let failed = overview.api.as_ref().map_or(0, |api| api.server_errors.total());
    if let Ok(failed @ 1..) = u64::try_from(failed) {
        let text = format!(
            "{} answered 5xx: 503 while it was busy or in maintenance; of the rest the log tells why.",
            numbers::of(failed, "request was", "requests were")
        );
        notes.push(Note::new(Tone::Bad, text).at("#api", "See when"));
    }
    if troubles.low_reserves > 0 {
        let text = format!(
            "{} below the threshold.",
            numbers::of(troubles.low_reserves, "reserve is", "reserves are")
        );
        notes.push(Note::new(Tone::Warn, text).at("/companies?reserve=low", "See whose"));
    }
    if troubles.failing_schedules > 0 {
        let text = format!(
            "{} be paid.",
            numbers::of(troubles.failing_schedules, "schedule cannot", "schedules cannot")
        );
        notes.push(Note::new(Tone::Warn, text).at("/schedules?state=failing", "See why"));
    }
    if troubles.suspended_providers > 0 {
        let (verb, whose) = if troubles.suspended_providers == 1 {
            ("provider is", "its")
        } else {
            ("providers are", "their")
        };
        let text = format!(
            "{} {verb} suspended: {whose} events wait.",
            numbers::counted(troubles.suspended_providers)
        );
        notes.push(Note::new(Tone::Warn, text).at("/providers?sort=suspended", "See which"));
    }
    notes.extend(overview.service.certificate.as_ref().and_then(|found| certificate(found, frame.now)));
    notes
}

fn certificate(certificate: &Certificate, now: OffsetDateTime) -> Option<Note> {
    let left = (certificate.last_day - now.date()).whole_days();
    let day = times::date(certificate.last_day);
    let (tone, ends) = match left {
        ..0 => (Tone::Bad, format!("The certificate ended on {day}.")),
        0 => (Tone::Bad, "The certificate ends today.".to_owned()),
        1..CERTIFICATE_DAYS => {
            let days = numbers::of(left.unsigned_abs(), "day", "days");
            (Tone::Warn, format!("The certificate ends in {days}, on {day}."))
        }
        _ => return None,
    };
    // The service renews the certificate automatically.
    let is_own_matter = certificate.is_self_signed && left > 0;
    (!is_own_matter).then(|| Note::new(tone, ends))
}

#[cfg(test)]
mod tests;
