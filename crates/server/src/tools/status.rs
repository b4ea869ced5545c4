//! `guerdon status`.

use anyhow::{Context, Result, bail};
use guerdon_console::numbers;
use serde_json::Value;

use super::healthcheck::request_operator;
use crate::commands::{CommandOutput, CommandView, format_count, format_fields};
use crate::maintenance::ServiceStatus;
use crate::settings::Settings;

impl CommandView for ServiceStatus {
    fn to_text(&self) -> String {
        let maintenance = if self.maintenance { "on: the API responds with 503" } else { "off" };
        let oldest = self
            .oldest_event_seconds
            .map_or_else(String::new, |age| format!(", oldest {}", numbers::format_seconds(age)));
        let seal = self.seal.as_ref();
        let seal =
            seal.map_or_else(|| "none yet".to_owned(), |seal| format!("{} at {}", seal.sequence, seal.at));
        let in_transit = self.in_transit.as_ref().map_or_else(
            || "0".to_owned(),
            |transit| {
                let distributions = format_count(
                    transit.distributions,
                    "unfinished distribution",
                    "unfinished distributions",
                );
                format!("{} in {distributions}", numbers::format_integer(transit.points))
            },
        );
        let verified = self.last_verification.as_ref().map_or_else(
            || "never".to_owned(),
            |verified| {
                let result = if verified.ok {
                    "every invariant holds".to_owned()
                } else {
                    let violations = numbers::count_with_noun(verified.violations, "violation", "violations");
                    format!("{violations}: run `guerdon verify`")
                };
                format!("{} ({result})", verified.at)
            },
        );
        let pruned = self.last_prune.as_ref().map_or_else(
            || "never".to_owned(),
            |pruned| format!("{} (deleted {})", pruned.at, pruned.deleted.to_text()),
        );
        let cell = self.cell.as_ref().map_or_else(String::new, |cell| format!(", cell {cell}"));
        format_fields(&[
            ("version", &format!("{}{cell}", self.version)),
            ("uptime", &numbers::format_seconds(i64::try_from(self.uptime_seconds).unwrap_or(i64::MAX))),
            ("database", &self.database),
            ("API", &self.listen),
            ("operator", &self.operator_listen),
            ("maintenance", maintenance),
            ("events pending", &format!("{}{oldest}", numbers::format_integer(self.events_pending))),
            ("emails waiting", &numbers::format_integer(self.mails_waiting)),
            ("certificate expires", self.certificate_expires_at.as_deref().unwrap_or("at the proxy")),
            ("latest seal", &seal),
            ("points in transit", &in_transit),
            ("last verified", &verified),
            ("last prune", &pruned),
            ("last backup", self.last_backup_at.as_deref().unwrap_or("none recorded")),
        ])
    }
}

/// Requests the status from the operator's listener.
pub(super) fn show_status(settings: &Settings) -> Result<CommandOutput> {
    let (url, status, body) = request_operator(settings, "/status")
        .context("cannot query the running service (is `guerdon serve` running?)")?;
    if status != 200 {
        let response: Value = serde_json::from_str(&body).unwrap_or_default();
        let why = response.get("status").and_then(Value::as_str).unwrap_or("no status");
        bail!("{url} responded with {status}: {why}");
    }
    let status: ServiceStatus = serde_json::from_str(&body)
        .context("the running `guerdon serve` has another version: restart it, or use the same version")?;
    Ok(status.to_output()?)
}
