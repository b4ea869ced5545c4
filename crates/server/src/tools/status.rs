//! `guerdon status`.

use anyhow::{Context, Result, bail};
use guerdon_console::numbers;
use serde_json::Value;

use super::healthcheck::request_operator;
use crate::commands::{Output, View, counted, fields};
use crate::maintenance::Status;
use crate::settings::Settings;

impl View for Status {
    fn text(&self) -> String {
        let yes = if self.maintenance { "on: the API responds with 503" } else { "off" };
        let oldest = self
            .oldest_event_seconds
            .map_or_else(String::new, |age| format!(", oldest {}", numbers::seconds(age)));
        let seal = self.seal.as_ref();
        let seal =
            seal.map_or_else(|| "none yet".to_owned(), |seal| format!("{} at {}", seal.sequence, seal.at));
        let in_transit = self.in_transit.as_ref().map_or_else(
            || "0".to_owned(),
            |transit| {
                let distributions =
                    counted(transit.distributions, "unfinished distribution", "unfinished distributions");
                format!("{} in {distributions}", numbers::grouped(transit.points))
            },
        );
        fields(&[
            ("version", &self.version),
            ("up for", &numbers::seconds(i64::try_from(self.uptime_seconds).unwrap_or(i64::MAX))),
            ("database", &self.database),
            ("API", &self.listen),
            ("operator", &self.operator_listen),
            ("maintenance", yes),
            ("events pending", &format!("{}{oldest}", numbers::grouped(self.events_pending))),
            ("mails waiting", &numbers::grouped(self.mails_waiting)),
            ("certificate ends", self.certificate_expires_at.as_deref().unwrap_or("at the proxy")),
            ("latest seal", &seal),
            ("points in transit", &in_transit),
        ])
    }
}

/// Requests the status from the operator's listener.
pub(super) fn run(settings: &Settings) -> Result<Output> {
    let (url, status, body) = request_operator(settings, "/status").context("is `guerdon serve` running?")?;
    if status != 200 {
        let told: Value = serde_json::from_str(&body).unwrap_or_default();
        let why = told.get("status").and_then(Value::as_str).unwrap_or("no status");
        bail!("{url} responded with {status}: {why}");
    }
    let status: Status = serde_json::from_str(&body).context("the running guerdon has another version")?;
    Ok(status.output()?)
}
