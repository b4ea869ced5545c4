//! Finds what needs the operator's attention, most urgent first.

use time::{Duration, OffsetDateTime};

use crate::components::Tone;
use crate::frame::Frame;
use crate::model::{Certificate, LatestResults, ObjectReference, Overview};
use crate::numbers;
use crate::time_format;

/// An event that is pending for longer raises an alert. By then, six attempts to deliver it have failed.
const PENDING_AGE_MAX: Duration = Duration::hours(1);
/// The ledger should be verified every night. Shorter than the alert `GuerdonVerificationOverdue` (48 hours), so that
/// the console shows a missed verification first.
const VERIFICATION_AGE_MAX: Duration = Duration::hours(36);
/// A service verifies the ledger within minutes after its first start.
const FIRST_VERIFICATION_GRACE: Duration = Duration::minutes(10);
/// A service deletes records past their retention once a day.
const PRUNE_AGE_MAX: Duration = Duration::hours(36);
/// A backup should be made every night. Shorter than the alert `GuerdonBackupOverdue` (36 hours), so that the console
/// shows a missed backup first.
const BACKUP_AGE_MAX: Duration = Duration::hours(26);
const CERTIFICATE_WARNING_DAYS: i64 = 30;

/// The maximum number of failing receivers that have an alert each. All further ones share one alert.
const FAILING_RECEIVER_ALERTS_MAX: usize = 5;

/// Something that needs the operator's attention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alert {
    pub(crate) tone: Tone,
    pub(crate) text: String,
    /// The path of the page that shows the problem, and the text of the link.
    pub(crate) link: Option<(String, &'static str)>,
    pub(crate) command: Option<&'static str>,
}

impl Alert {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into(), link: None, command: None }
    }

    fn with_link(self, path: impl Into<String>, label: &'static str) -> Self {
        Self { link: Some((path.into(), label)), ..self }
    }

    fn with_command(self, command: &'static str) -> Self {
        Self { command: Some(command), ..self }
    }
}

/// Returns all alerts, most urgent first.
pub(crate) fn collect_alerts(overview: &Overview, frame: &Frame) -> Vec<Alert> {
    let mut alerts = ledger_alerts(overview, frame.now);
    alerts.extend(failing_receiver_alerts(overview));
    alerts.extend(delivery_alerts(overview, frame.now));
    alerts.extend(other_alerts(overview, frame));
    // The sort is stable: within a tone the order does not change.
    alerts.sort_by_key(|alert| alert.tone != Tone::Bad);
    alerts
}

fn ledger_alerts(overview: &Overview, now: OffsetDateTime) -> Vec<Alert> {
    let ledger = &overview.ledger;
    let mut alerts = Vec::new();
    if ledger.unbalanced_companies > 0 {
        let companies = numbers::count_with_noun(ledger.unbalanced_companies, "company", "companies");
        let text = format!(
            "The accounts of {companies} do not sum to zero. Turn on maintenance mode, then verify the \
             ledger."
        );
        alerts.push(Alert::new(Tone::Bad, text).with_command("guerdon maintenance on"));
    }
    match &ledger.last_verification {
        Some(verification) if verification.violations > 0 => {
            let found = numbers::count_with_noun(verification.violations, "violation", "violations");
            let text = format!("The last verification found {found}.");
            alerts.push(Alert::new(Tone::Bad, text).with_command("guerdon verify"));
        }
        Some(verification) if now - verification.ended_at > VERIFICATION_AGE_MAX => {
            let text = format!(
                "The ledger was last verified {}.",
                time_format::format_age(now, verification.ended_at)
            );
            alerts.push(Alert::new(Tone::Warn, text).with_command("guerdon verify"));
        }
        Some(_) => {}
        None if now - overview.service.started_at > FIRST_VERIFICATION_GRACE => {
            let text = "The ledger was never verified: is verify.daily_at off?";
            alerts.push(Alert::new(Tone::Warn, text).with_command("guerdon verify"));
        }
        None => {}
    }
    let last_prune = overview.service.last_prune.as_ref().map(|run| run.ended_at);
    alerts.extend(last_prune.filter(|at| now - *at > PRUNE_AGE_MAX).map(|at| {
        let age = time_format::format_age(now, at);
        Alert::new(Tone::Warn, format!("`guerdon prune` last completed {age}. See the log."))
            .with_command("guerdon prune")
    }));
    alerts.extend(overview.service.last_backup_at.filter(|at| now - *at > BACKUP_AGE_MAX).map(|at| {
        let text = format!("The last recorded backup was made {}.", time_format::format_age(now, at));
        if overview.service.database.starts_with("postgres") {
            Alert::new(Tone::Warn, format!("{text} Make a backup with `pg_dump`; then record it."))
                .with_command("guerdon backup --record")
        } else {
            Alert::new(Tone::Warn, text).with_command("guerdon backup FILE")
        }
    }));
    alerts
}

fn failing_receiver_alerts(overview: &Overview) -> Vec<Alert> {
    let all = &overview.problems.failing_receivers;
    let alert = |(provider, latest): &(ObjectReference, LatestResults)| {
        let name = provider.name.replace('`', "'"); // prose between backticks is shown as a command
        let text = format!(
            "The receiver of {name} is failing: it confirmed {} of the last {} delivery attempts.",
            latest.confirmed, latest.attempts
        );
        Alert::new(Tone::Bad, text).with_link(format!("/providers/{}", provider.id), "See why")
    };
    let mut alerts: Vec<Alert> = all.iter().take(FAILING_RECEIVER_ALERTS_MAX).map(alert).collect();
    if let Ok(more @ 1..) = u64::try_from(all.len().saturating_sub(FAILING_RECEIVER_ALERTS_MAX)) {
        let text =
            format!("{} failing.", numbers::count_with_noun(more, "more receiver is", "more receivers are"));
        alerts.push(Alert::new(Tone::Bad, text).with_link("/providers?sort=success", "See which"));
    }
    alerts
}

fn delivery_alerts(overview: &Overview, now: OffsetDateTime) -> Vec<Alert> {
    let deliveries = &overview.deliveries;
    let mut alerts = Vec::new();
    if !deliveries.exhausted.is_zero() {
        let text = format!("{} exhausted.", deliveries.exhausted.with_noun("event is", "events are"));
        alerts.push(Alert::new(Tone::Bad, text).with_link("/events?state=exhausted", "See why"));
    }
    if !deliveries.unaddressed.is_zero() {
        let (one, many) = ("event could not be sent: its", "events could not be sent: their");
        let text = format!("{} provider had no callback URL.", deliveries.unaddressed.with_noun(one, many));
        alerts.push(Alert::new(Tone::Warn, text).with_link("/events?state=unaddressed", "See whose"));
    }
    if let Some(age) =
        deliveries.oldest_pending_at.map(|created_at| now - created_at).filter(|age| *age > PENDING_AGE_MAX)
    {
        let text = format!(
            "The oldest pending event was created {} ago.",
            numbers::format_seconds(age.whole_seconds())
        );
        alerts.push(Alert::new(Tone::Warn, text).with_link("/events?state=pending", "See these events"));
    }
    if !overview.mails.given_up.is_zero() {
        let text = format!(
            "{} given up. See the log for their ids.",
            overview.mails.given_up.with_noun("email was", "emails were")
        );
        alerts.push(Alert::new(Tone::Warn, text));
    }
    alerts
}

fn other_alerts(overview: &Overview, frame: &Frame) -> Vec<Alert> {
    let problems = &overview.problems;
    let mut alerts = Vec::new();
    if frame.is_in_maintenance {
        let text = "Maintenance mode is on: every request gets a 503.";
        alerts.push(Alert::new(Tone::Warn, text).with_command("guerdon maintenance off"));
    }
    let failed = overview.api.as_ref().map_or(0, |api| api.server_errors.total());
    if let Ok(failed @ 1..) = u64::try_from(failed) {
        let text = format!(
            "{} failed with 5xx. A 503 means that the service was overloaded or its database unavailable; \
             for other statuses, see the log.",
            numbers::count_with_noun(failed, "request", "requests")
        );
        alerts.push(Alert::new(Tone::Bad, text).with_link("/requests?status=5xx", "See which"));
    }
    if problems.low_reserves > 0 {
        let text = format!(
            "{} below the threshold.",
            numbers::count_with_noun(problems.low_reserves, "reserve is", "reserves are")
        );
        alerts.push(Alert::new(Tone::Warn, text).with_link("/companies?reserve=low", "See whose"));
    }
    if problems.failing_schedules > 0 {
        let text = format!(
            "{} be paid.",
            numbers::count_with_noun(problems.failing_schedules, "schedule cannot", "schedules cannot")
        );
        alerts.push(Alert::new(Tone::Warn, text).with_link("/schedules?state=failing", "See why"));
    }
    if problems.suspended_providers > 0 {
        let (verb, whose) = if problems.suspended_providers == 1 {
            ("provider is", "its")
        } else {
            ("providers are", "their")
        };
        let text = format!(
            "{} {verb} suspended: {whose} events wait.",
            numbers::format_count(problems.suspended_providers)
        );
        alerts.push(Alert::new(Tone::Warn, text).with_link("/providers?sort=suspended", "See which"));
    }
    alerts
        .extend(overview.service.certificate.as_ref().and_then(|found| certificate_alert(found, frame.now)));
    alerts
}

fn certificate_alert(certificate: &Certificate, now: OffsetDateTime) -> Option<Alert> {
    let left = (certificate.last_day - now.date()).whole_days();
    let day = time_format::format_date(certificate.last_day);
    let (tone, ends) = match left {
        ..0 => (Tone::Bad, format!("The certificate expired on {day}.")),
        0 => (Tone::Bad, "The certificate expires today.".to_owned()),
        1..CERTIFICATE_WARNING_DAYS => {
            let days = numbers::count_with_noun(left.unsigned_abs(), "day", "days");
            (Tone::Warn, format!("The certificate expires in {days}, on {day}."))
        }
        _ => return None,
    };
    // The service renews the certificate automatically.
    let renews_automatically = certificate.is_self_signed && left > 0;
    (!renews_automatically).then(|| Alert::new(tone, ends))
}

#[cfg(test)]
mod tests;
