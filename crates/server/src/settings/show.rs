//! Renders the settings for `config show`, with secrets masked.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use url::Url;

use super::keys::SETTING_KEYS;
use super::parse::FOREVER;
use super::{LogFormat, Settings, Tls};

const MASK: &str = "***";
const PLACEHOLDER_HOST: &str = "several.invalid";

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum SettingValue {
    Text(String),
    Number(u32),
    Fraction(f64),
    Flag(bool),
    List(Vec<String>),
    Unset,
}

/// Every key with its value; secrets are masked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MaskedSettings(Vec<(&'static str, SettingValue)>);

impl Serialize for MaskedSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl MaskedSettings {
    /// Renders the settings as a TOML file, in which secrets are masked.
    pub(crate) fn to_toml(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            // JSON strings, numbers, booleans and flat lists are also valid TOML. Writing to a string cannot fail.
            let _written = match value {
                SettingValue::Unset => writeln!(text, "# {key} is unset"),
                _ => writeln!(text, "{key} = {}", serde_json::to_string(value).unwrap_or_default()),
            };
        }
        text
    }
}

impl Settings {
    /// Returns every key with its value, in the order of the reference; secrets are masked.
    pub(crate) fn to_masked(&self) -> MaskedSettings {
        let (mode, certificate, private_key) = match &self.http.tls {
            Tls::SelfSigned => ("self-signed", SettingValue::Unset, SettingValue::Unset),
            Tls::Files { certificate, private_key } => {
                ("files", text_value(certificate.display()), text_value(private_key.display()))
            }
            Tls::Proxy => ("proxy", SettingValue::Unset, SettingValue::Unset),
        };
        let (limits, webhooks, mail) = (&self.rate_limits, &self.webhooks, &self.mail);
        let idempotency = Some(self.retention.idempotency).filter(|retention| *retention != FOREVER);
        let idempotency = idempotency.unwrap_or_default();
        let values = [
            text_value(self.data_dir.display()),
            self.cell.as_ref().map_or(SettingValue::Unset, text_value),
            text_value(self.masked_database_url()),
            SettingValue::Flag(self.migrate),
            text_value(self.http.listen),
            text_value(mode),
            certificate,
            private_key,
            SettingValue::List(self.http.trusted_proxies.iter().map(ToString::to_string).collect()),
            SettingValue::List(self.http.retired_versions.clone()),
            SettingValue::List(
                self.http.sunsets.iter().map(|sunset| format!("{}={}", sunset.version, sunset.day)).collect(),
            ),
            SettingValue::Number(self.http.max_connections),
            SettingValue::Number(self.http.max_connections_per_address),
            duration_value(self.http.keep_alive, 1),
            duration_value(self.http.drain, 1),
            text_value(self.operator_listen),
            text_value(&self.service_url),
            SettingValue::Number(limits.requests_per_second),
            SettingValue::Number(limits.burst),
            SettingValue::Number(limits.failed_logins_per_minute),
            SettingValue::Flag(webhooks.egress.allow_private_networks),
            SettingValue::Flag(webhooks.egress.allow_http),
            SettingValue::Fraction(webhooks.schedule.time_scale()),
            path_value(self.webhook_roots.as_ref()),
            mail.smtp_url.as_ref().map_or(SettingValue::Unset, |url| text_value(mask_url(url.expose()))),
            mail.from.as_ref().map_or(SettingValue::Unset, text_value),
            path_value(mail.extra_roots.as_ref()),
            duration_value(self.retention.events.unwrap_or_default(), 86_400),
            duration_value(self.retention.mails.unwrap_or_default(), 86_400),
            duration_value(idempotency, 3_600),
            self.verify_daily_at.map_or_else(|| text_value("off"), time_of_day_value),
            self.master_key.as_ref().map_or(SettingValue::Unset, |_| text_value(MASK)),
            path_value(self.master_key_file.as_ref()),
            text_value(self.log.level.as_str().to_lowercase()),
            text_value(match self.log.format {
                LogFormat::Text => "text",
                LogFormat::Json => "json",
            }),
            SettingValue::Flag(self.log.requests),
        ];
        MaskedSettings(SETTING_KEYS.into_iter().zip(values).collect())
    }
}

/// Converts a duration to units of `unit` seconds.
fn duration_value(time: Duration, unit: u64) -> SettingValue {
    SettingValue::Number(u32::try_from(time.as_secs() / unit).unwrap_or(u32::MAX))
}

fn time_of_day_value(time: time::Time) -> SettingValue {
    text_value(format!("{:02}:{:02}", time.hour(), time.minute()))
}

fn path_value(path: Option<&PathBuf>) -> SettingValue {
    path.map_or(SettingValue::Unset, |path| text_value(path.display()))
}

fn text_value(value: impl ToString) -> SettingValue {
    SettingValue::Text(value.to_string())
}

/// Returns the hosts of a URL: the part between the user information and the path.
fn url_hosts(url: &str) -> Option<&str> {
    let after_scheme = url.split_once("://")?.1;
    let authority = after_scheme.split(['/', '?', '#']).next()?;
    Some(authority.rsplit_once('@').map_or(authority, |parts| parts.1))
}

/// Masks the password in the authority or the query of a URL. Masks the whole URL if it cannot be parsed.
pub(super) fn mask_url(url: &str) -> String {
    if url.starts_with("sqlite:") {
        return url.to_owned();
    }
    // Only libpq accepts several hosts in a URL, so a placeholder replaces them while the URL is parsed.
    let host_list = url_hosts(url).filter(|hosts| hosts.contains(','));
    if let Some(host_list) = host_list {
        let masked_single = mask_url(&url.replacen(host_list, PLACEHOLDER_HOST, 1));
        return masked_single.replacen(PLACEHOLDER_HOST, host_list, 1);
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
