//! Renders the settings for `config show`, with secrets masked.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use url::Url;

use super::keys::KEYS;
use super::{LogFormat, Settings, Tls};

const MASK: &str = "***";
const STAND_IN: &str = "several.invalid";

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Number(u32),
    Fraction(f64),
    Flag(bool),
    List(Vec<String>),
    Unset,
}

/// Returns every key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown(Vec<(&'static str, Value)>);

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Shown {
    /// Renders the settings as a TOML file, in which secrets are masked.
    pub(crate) fn toml(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            // JSON's strings, numbers, booleans and flat lists are TOML's too. Writing to a string cannot fail.
            let _written = match value {
                Value::Unset => writeln!(text, "# {key} is unset"),
                _ => writeln!(text, "{key} = {}", serde_json::to_string(value).unwrap_or_default()),
            };
        }
        text
    }
}

pub(super) fn shown(settings: &Settings) -> Shown {
    let tls = &settings.http.tls;
    let (mode, certificate, private_key, trusted) = match tls {
        Tls::SelfSigned => ("self-signed", Value::Unset, Value::Unset, Vec::new()),
        Tls::Files { certificate, private_key } => {
            ("files", text(certificate.display()), text(private_key.display()), Vec::new())
        }
        Tls::Proxy { trusted } => {
            ("proxy", Value::Unset, Value::Unset, trusted.iter().map(ToString::to_string).collect())
        }
    };
    let (limit, webhooks, mail) = (&settings.rate_limit, &settings.webhooks, &settings.mail);
    let values = [
        text(settings.data_dir.display()),
        text(settings.shown_database()),
        Value::Flag(settings.migrate),
        text(settings.http.listen),
        text(mode),
        certificate,
        private_key,
        Value::List(trusted),
        Value::List(settings.http.retired_versions.clone()),
        Value::List(
            settings.http.sunsets.iter().map(|sunset| format!("{}={}", sunset.version, sunset.day)).collect(),
        ),
        Value::Number(settings.http.max_connections),
        Value::Number(settings.http.max_connections_per_address),
        seconds(settings.http.keep_alive),
        seconds(settings.http.drain),
        text(settings.operator_listen),
        text(&settings.service_url),
        Value::Number(limit.requests_per_second),
        Value::Number(limit.burst),
        Value::Number(limit.failed_logins_per_minute),
        Value::Flag(webhooks.allow_private_networks),
        Value::Flag(webhooks.allow_http),
        Value::Fraction(webhooks.time_scale),
        path(settings.webhook_roots.as_ref()),
        mail.smtp_url.as_ref().map_or(Value::Unset, |url| text(masked(url.expose()))),
        mail.from.as_ref().map_or(Value::Unset, text),
        path(mail.extra_roots.as_ref()),
        kept(settings.retention.events.unwrap_or_default(), 86_400),
        kept(settings.retention.mails.unwrap_or_default(), 86_400),
        kept(settings.retention.idempotency, 3_600),
        settings.master_key.as_ref().map_or(Value::Unset, |_| text(MASK)),
        path(settings.master_key_file.as_ref()),
        text(settings.log.level.as_str().to_lowercase()),
        text(match settings.log.format {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        }),
        Value::Flag(settings.log.requests),
    ];
    Shown(KEYS.into_iter().zip(values).collect())
}

fn seconds(time: Duration) -> Value {
    kept(time, 1)
}

/// Converts a duration to units of `unit` seconds.
fn kept(time: Duration, unit: u64) -> Value {
    Value::Number(u32::try_from(time.as_secs() / unit).unwrap_or(u32::MAX))
}

fn path(it: Option<&PathBuf>) -> Value {
    it.map_or(Value::Unset, |path| text(path.display()))
}

fn text(value: impl ToString) -> Value {
    Value::Text(value.to_string())
}

/// Returns the hosts of a URL: the part between the user information and the path.
fn hosts(url: &str) -> Option<&str> {
    let behind = url.split_once("://")?.1;
    let authority = behind.split(['/', '?', '#']).next()?;
    Some(authority.rsplit_once('@').map_or(authority, |parts| parts.1))
}

/// Masks the password in the authority or the query of a URL. Masks the whole URL if it cannot be parsed.
pub(super) fn masked(url: &str) -> String {
    if url.starts_with("sqlite:") {
        return url.to_owned();
    }
    // Only libpq accepts several hosts in a URL: a placeholder host replaces them while the URL is parsed.
    let several = hosts(url).filter(|hosts| hosts.contains(','));
    if let Some(several) = several {
        let one = masked(&url.replacen(several, STAND_IN, 1));
        return one.replacen(STAND_IN, several, 1);
    }
    let Ok(mut parsed) = Url::parse(url) else { return MASK.to_owned() };
    if parsed.password().is_some() && parsed.set_password(Some(MASK)).is_err() {
        return MASK.to_owned();
    }
    let is_secret = |name: &str| name.contains("password") || name == "sslkey";
    if parsed.query_pairs().any(|(name, _)| is_secret(&name)) {
        let pairs: Vec<(String, String)> = parsed
            .query_pairs()
            .map(|(name, value)| {
                let value = if is_secret(&name) { MASK.to_owned() } else { value.into_owned() };
                (name.into_owned(), value)
            })
            .collect();
        parsed.query_pairs_mut().clear().extend_pairs(pairs);
    }
    parsed.to_string()
}
