//! Parses the values of the settings. Every error names the key.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use config::{Config, ConfigError};
use guerdon_domain::values::IsoDate;
use guerdon_http_api::{RateLimits, Sunset};
use guerdon_mailer::{FromAddress, SmtpUrl};
use guerdon_persistence::DatabaseUrl;
use guerdon_webhook_dispatcher::{EgressPolicy, RetrySchedule};
use ipnet::IpNet;
use serde::de::DeserializeOwned;
use time::Time;
use url::Url;

use super::keys::ALLOW_UNSAFE_POSTGRES;
use super::{Http, ListenAddresses, Log, LogFormat, Mail, MasterKey, Retention, Settings, Tls, Webhooks};
use crate::platform::SecretText;

const HTTP_LISTEN_DEFAULT: &str = "127.0.0.1:8443";
const CELL_LENGTH_MAX: usize = 63;
const OPERATOR_LISTEN_DEFAULT: &str = "127.0.0.1:9090";
/// The retention of idempotency records that are never deleted (the setting is 0): a century.
pub(super) const FOREVER: Duration = Duration::from_secs(100 * 365 * 86_400);

/// The type of a setting, and its name in messages.
pub(super) trait SettingType: DeserializeOwned {
    const EXPECTED: &str;
}

macro_rules! expected {
    ($($type:ty: $text:literal,)+) => {
        $(impl SettingType for $type {
            const EXPECTED: &str = $text;
        })+
    };
}

expected! {
    bool: "true or false",
    f64: "a number",
    u32: "a whole number from 0 to 4294967295",
    u64: "a whole number",
    String: "a string",
    PathBuf: "a path",
    Vec<String>: "a list of strings",
}

/// The merged sources.
pub(super) struct SettingsReader<'a>(&'a Config);

impl<'a> SettingsReader<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        Self(config)
    }

    fn get<T: SettingType>(&self, key: &str) -> anyhow::Result<Option<T>> {
        match self.0.get(key) {
            Ok(value) => Ok(Some(value)),
            Err(ConfigError::NotFound(_)) => Ok(None),
            Err(_) if key == "master_key" => bail!("master_key must be 64 hex digits"), // the error would show the key
            Err(_) => {
                // Only strings can be secrets, and every value can be read as a string.
                let shown_value =
                    self.0.get_string(key).map_or_else(|_| String::new(), |value| format!(", not `{value}`"));
                Err(anyhow!("{key} must be {}{shown_value}", T::EXPECTED))
            }
        }
    }

    fn get_or<T: SettingType>(&self, key: &str, default: T) -> anyhow::Result<T> {
        Ok(self.get(key)?.unwrap_or(default))
    }

    fn get_address(&self, key: &str, default: &str) -> anyhow::Result<SocketAddr> {
        let text = self.get_or(key, default.to_owned())?;
        text.parse().map_err(|_no_address| {
            anyhow!("{key} must be an address and a port such as {default}, not `{text}`")
        })
    }

    fn find_address(&self, key: &str, default: &str) -> anyhow::Result<Option<SocketAddr>> {
        self.get::<String>(key)?.map(|_is_set| self.get_address(key, default)).transpose()
    }
}

pub(super) fn parse_listen_addresses(source: &SettingsReader<'_>) -> anyhow::Result<ListenAddresses> {
    Ok(ListenAddresses {
        http: source.find_address("http.listen", HTTP_LISTEN_DEFAULT)?,
        operator: source.find_address("operator.listen", OPERATOR_LISTEN_DEFAULT)?,
    })
}

pub(super) fn parse_settings(source: &SettingsReader<'_>) -> anyhow::Result<Settings> {
    let data_dir: PathBuf = source.get_or("data_dir", "./guerdon-data".into())?;
    let (database, database_url) = parse_database(source, &data_dir)?;
    let trusted_proxies = parse_trusted_proxies(source)?;
    Ok(Settings {
        cell: parse_cell(source)?,
        database,
        database_url,
        migrate: source.get_or("database.migrate", true)?,
        allow_unsafe_postgres: source.get_or(ALLOW_UNSAFE_POSTGRES, false)?,
        http: Http {
            listen: source.get_address("http.listen", HTTP_LISTEN_DEFAULT)?,
            tls: parse_tls(source, &trusted_proxies)?,
            trusted_proxies,
            retired_versions: parse_retired_versions(source)?,
            sunsets: parse_sunsets(source)?,
            max_connections: source.get_or("http.max_connections", 0)?,
            max_connections_per_address: parse_address_limit(source)?,
            keep_alive: parse_seconds(source, "http.keep_alive_seconds", 75, 1..=3_600)?,
            drain: parse_seconds(source, "http.drain_seconds", 1, 0..=600)?,
        },
        operator_listen: source.get_address("operator.listen", OPERATOR_LISTEN_DEFAULT)?,
        service_url: parse_service_url(source)?,
        rate_limits: RateLimits {
            requests_per_second: source.get_or("rate_limit.requests_per_second", 200)?,
            burst: parse_burst(source)?,
            failed_logins_per_minute: source.get_or("rate_limit.failed_logins_per_minute", 20)?,
        },
        webhooks: parse_webhooks(source)?,
        webhook_roots: source.get("webhooks.extra_roots")?,
        mail: parse_mail(source)?,
        retention: parse_retention(source)?,
        verify_daily_at: parse_daily_at(source)?,
        master_key: source.get::<String>("master_key")?.map(|text| MasterKey::parse(&text)).transpose()?,
        master_key_file: source.get("master_key_file")?,
        log: parse_log(source)?,
        data_dir,
    })
}

/// Parses the name of a cell, which appears in a header and as a label of metrics.
fn parse_cell(source: &SettingsReader<'_>) -> anyhow::Result<Option<String>> {
    let cell: Option<String> = source.get("cell")?;
    let is_valid = |name: &str| {
        (1..=CELL_LENGTH_MAX).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    match cell {
        Some(name) if !is_valid(&name) => {
            bail!("cell must be 1 to {CELL_LENGTH_MAX} lowercase letters, digits and hyphens, not `{name}`")
        }
        cell => Ok(cell),
    }
}

fn parse_database(
    source: &SettingsReader<'_>,
    data_dir: &std::path::Path,
) -> anyhow::Result<(DatabaseUrl, SecretText)> {
    match source.get::<String>("database.url")? {
        Some(text) => {
            let url = DatabaseUrl::parse(&text).map_err(|cause| anyhow!("database.url: {cause}"))?;
            Ok((url, SecretText::new(text)))
        }
        None => {
            let path = data_dir.join("guerdon.db");
            let text = format!("sqlite://{}", path.display());
            Ok((DatabaseUrl::Sqlite(path), SecretText::new(text)))
        }
    }
}

fn parse_tls(source: &SettingsReader<'_>, trusted_proxies: &[IpNet]) -> anyhow::Result<Tls> {
    let mode = source.get_or("http.tls.mode", "self-signed".to_owned())?;
    let certificate = source.get::<PathBuf>("http.tls.certificate")?;
    let private_key = source.get::<PathBuf>("http.tls.private_key")?;
    if mode != "files" && (certificate.is_some() || private_key.is_some()) {
        bail!("http.tls.certificate and http.tls.private_key need http.tls.mode = \"files\"");
    }
    match mode.as_str() {
        "self-signed" => Ok(Tls::SelfSigned),
        "files" => match (certificate, private_key) {
            (Some(certificate), Some(private_key)) => Ok(Tls::Files { certificate, private_key }),
            _ => bail!("http.tls.mode = \"files\" needs http.tls.certificate and http.tls.private_key"),
        },
        "proxy" if trusted_proxies.is_empty() => {
            bail!("http.tls.mode = \"proxy\" needs http.trusted_proxies, the addresses of the proxies")
        }
        "proxy" => Ok(Tls::Proxy),
        _ => bail!("http.tls.mode must be self-signed, files or proxy, not `{mode}`"),
    }
}

fn parse_trusted_proxies(source: &SettingsReader<'_>) -> anyhow::Result<Vec<IpNet>> {
    let parse_network = |text: String| match (text.parse::<IpNet>(), text.parse::<IpAddr>()) {
        (Ok(range), _) => Ok(range),
        (Err(_), Ok(address)) => Ok(IpNet::from(address)),
        _ => Err(anyhow!("http.trusted_proxies must be addresses or CIDR ranges, not `{text}`")),
    };
    source.get_or("http.trusted_proxies", Vec::new())?.into_iter().map(parse_network).collect()
}

fn parse_retired_versions(source: &SettingsReader<'_>) -> anyhow::Result<Vec<String>> {
    let versions: Vec<String> = source.get_or("http.retired_versions", Vec::new())?;
    match versions.iter().find(|version| !is_version(version)) {
        Some(wrong) => bail!("http.retired_versions must be names such as v0, not `{wrong}`"),
        None => Ok(versions),
    }
}

/// Parses versions with their dates of removal, such as `v1=2027-06-30`.
fn parse_sunsets(source: &SettingsReader<'_>) -> anyhow::Result<Vec<Sunset>> {
    let parse_entry = |entry: &str| {
        let (version, day) = entry.split_once('=').filter(|(version, _)| is_version(version))?;
        Some(Sunset { version: version.to_owned(), day: IsoDate::parse(day).ok()?.to_date() })
    };
    let entries: Vec<String> = source.get_or("http.sunsets", Vec::new())?;
    let parsed = entries.iter().map(|entry| {
        parse_entry(entry).ok_or_else(|| {
            anyhow!("http.sunsets must be versions with a date such as v1=2027-06-30, not `{entry}`")
        })
    });
    parsed.collect()
}

fn is_version(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

fn parse_address_limit(source: &SettingsReader<'_>) -> anyhow::Result<u32> {
    match source.get_or("http.max_connections_per_address", 256)? {
        0 => bail!("http.max_connections_per_address must be at least 1"),
        count => Ok(count),
    }
}

fn parse_number(
    source: &SettingsReader<'_>,
    key: &str,
    default: u64,
    range: RangeInclusive<u64>,
) -> anyhow::Result<u64> {
    let number = source.get_or(key, default)?;
    if !range.contains(&number) {
        bail!("{key} must be from {} to {}, not {number}", range.start(), range.end());
    }
    Ok(number)
}

fn parse_seconds(
    source: &SettingsReader<'_>,
    key: &str,
    default: u64,
    range: RangeInclusive<u64>,
) -> anyhow::Result<Duration> {
    parse_number(source, key, default, range).map(Duration::from_secs)
}

fn parse_burst(source: &SettingsReader<'_>) -> anyhow::Result<u32> {
    match source.get_or("rate_limit.burst", 400)? {
        0 => bail!("rate_limit.burst must be at least 1, not 0"),
        burst => Ok(burst),
    }
}

fn parse_service_url(source: &SettingsReader<'_>) -> anyhow::Result<String> {
    let text = source.get_or("service_url", "https://localhost:8443".to_owned())?;
    let is_valid =
        Url::parse(&text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !is_valid {
        bail!("service_url must be an absolute http or https URL, not `{text}`");
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn parse_webhooks(source: &SettingsReader<'_>) -> anyhow::Result<Webhooks> {
    let schedule = RetrySchedule::with_time_scale(source.get_or("webhooks.time_scale", 1.0)?)
        .context("webhooks.time_scale must be from 0.001 to 1000000000")?;
    let egress = EgressPolicy {
        allow_private_networks: source.get_or("webhooks.allow_private_networks", false)?,
        allow_http: source.get_or("webhooks.allow_http", false)?,
    };
    Ok(Webhooks { egress, schedule })
}

fn parse_retention(source: &SettingsReader<'_>) -> anyhow::Result<Retention> {
    let parse_days = |key: &str| -> anyhow::Result<Option<Duration>> {
        let days = parse_number(source, key, 30, 0..=36_500)?;
        Ok((days > 0).then(|| Duration::from_secs(days * 86_400)))
    };
    Ok(Retention {
        events: parse_days("retention.events_days")?,
        mails: parse_days("retention.mails_days")?,
        idempotency: match parse_number(source, "retention.idempotency_hours", 72, 0..=87_600)? {
            0 => FOREVER,
            hours => Duration::from_secs(hours * 3_600),
        },
    })
}

/// Parses a time of day, or `off`.
fn parse_daily_at(source: &SettingsReader<'_>) -> anyhow::Result<Option<Time>> {
    let text = source.get_or("verify.daily_at", "03:00".to_owned())?;
    if text == "off" {
        return Ok(None);
    }
    let parse_part = |part: &str| {
        let is_valid = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| is_valid)
    };
    let time = text
        .split_once(':')
        .and_then(|(hour, minute)| Time::from_hms(parse_part(hour)?, parse_part(minute)?, 0).ok());
    match time {
        Some(time) => Ok(Some(time)),
        None => bail!("verify.daily_at must be a time of day in UTC such as 03:00, or off, not `{text}`"),
    }
}

fn parse_mail(source: &SettingsReader<'_>) -> anyhow::Result<Mail> {
    let smtp_url = source.get::<String>("mail.smtp_url")?;
    let from = source.get::<String>("mail.from")?;
    if let Some(url) = &smtp_url {
        SmtpUrl::parse(url).map_err(|cause| anyhow!("mail.smtp_url {cause}"))?;
    }
    if let Some(from) = &from {
        FromAddress::parse(from).map_err(|cause| anyhow!("mail.from {cause}"))?;
    }
    if smtp_url.is_some() && from.is_none() {
        bail!("mail.smtp_url needs mail.from, the sender's address");
    }
    let extra_roots = source.get("mail.extra_roots")?;
    if extra_roots.is_some() && smtp_url.is_none() {
        bail!("mail.extra_roots needs mail.smtp_url: without a mail server, emails are written to files");
    }
    Ok(Mail { smtp_url: smtp_url.map(SecretText::new), from, extra_roots })
}

fn parse_log(source: &SettingsReader<'_>) -> anyhow::Result<Log> {
    let level = source.get_or("log.level", "info".to_owned())?;
    let format = source.get_or("log.format", "text".to_owned())?;
    Ok(Log {
        level: level.parse().map_err(|_no_level| {
            anyhow!("log.level must be off, error, warn, info, debug or trace, not `{level}`")
        })?,
        format: match format.as_str() {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            _ => bail!("log.format must be text or json, not `{format}`"),
        },
        requests: source.get_or("log.requests", false)?,
    })
}
