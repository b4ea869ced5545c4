//! `guerdon status`.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::healthcheck::ask;
use crate::commands::{Output, View, fields};
use crate::settings::Settings;
use crate::status::Status;

impl View for Status {
    fn text(&self) -> String {
        let yes = if self.maintenance { "on: the API answers 503" } else { "off" };
        let oldest =
            self.oldest_event_seconds.map_or_else(String::new, |it| format!(", the oldest for {it} s"));
        let seal = self.seal.as_ref();
        let seal = seal.map_or_else(|| "none yet".to_owned(), |it| format!("{} at {}", it.sequence, it.at));
        let in_transit = self.in_transit.as_ref().map_or_else(
            || "0".to_owned(),
            |it| format!("{} of unfinished distributions: {}", it.points, it.distributions),
        );
        fields(&[
            ("version", &self.version),
            ("up for", &long(self.uptime_seconds)),
            ("database", &self.database),
            ("API", &self.listen),
            ("operator", &self.operator_listen),
            ("maintenance", yes),
            ("events pending", &format!("{}{oldest}", self.events_pending)),
            ("mails waiting", &self.mails_waiting.to_string()),
            ("certificate ends", self.certificate_expires_at.as_deref().unwrap_or("at the proxy")),
            ("latest seal", &seal),
            ("points in transit", &in_transit),
        ])
    }
}

/// Days, hours, minutes and seconds, from the first that is not 0.
fn long(seconds: u64) -> String {
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min")];
    let told = parts.iter().skip_while(|it| it.0 == 0).map(|(it, unit)| format!("{it} {unit} "));
    format!("{}{} s", told.collect::<String>(), seconds % 60)
}

/// Asks the operator's listener.
pub(super) fn run(settings: &Settings) -> Result<Output> {
    let (url, status, body) = ask(settings, "/status").context("is `guerdon serve` running?")?;
    if status != 200 {
        let told: Value = serde_json::from_str(&body).unwrap_or_default();
        let why = told.get("status").and_then(Value::as_str).unwrap_or("no status");
        bail!("{url} answers {status}: {why}");
    }
    let status: Status = serde_json::from_str(&body).context("the running guerdon is of another version")?;
    Ok(status.output()?)
}

#[cfg(test)]
mod tests {
    use super::long;

    #[test]
    fn a_time_begins_with_its_largest_unit() {
        let check = |seconds, expected: &str| assert_eq!(long(seconds), expected);
        check(0, "0 s");
        check(61, "1 min 1 s");
        check(3_600, "1 h 0 min 0 s");
        check(90_061, "1 d 1 h 1 min 1 s");
    }
}
