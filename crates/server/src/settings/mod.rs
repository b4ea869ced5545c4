//! The settings: a TOML file, environment variables that override it, and a default for every key.

mod keys;
mod master_key;
mod parse;
mod show;
mod sources;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use guerdon_http_api::{RateLimits, Sunset};
use guerdon_persistence::DatabaseUrl;
use guerdon_webhook_dispatcher::{EgressPolicy, RetrySchedule};
use ipnet::IpNet;

use crate::platform::SecretText;

pub(crate) use master_key::MasterKey;

#[derive(Clone)]
pub(crate) struct Settings {
    /// The data folder.
    pub(crate) data_dir: PathBuf,
    /// The name of this cell among several; `None` if there is only one.
    pub(crate) cell: Option<String>,
    pub(crate) database: DatabaseUrl,
    /// The URL of the database as it was configured; may contain a password.
    pub(crate) database_url: SecretText,
    /// Whether `serve` applies pending migrations. Otherwise it refuses a database with pending migrations.
    pub(crate) migrate: bool,
    /// Whether a PostgreSQL server is accepted that can lose commits in a crash. This is for tests: it is set only by
    /// `GUERDON_ALLOW_UNSAFE_POSTGRES=1`, not read from a file and not shown.
    pub(crate) allow_unsafe_postgres: bool,
    /// The provider API.
    pub(crate) http: Http,
    /// The address of the operator's listener.
    pub(crate) operator_listen: SocketAddr,
    /// The public URL of the service, without a trailing slash.
    pub(crate) service_url: String,
    /// The limits of the provider API.
    pub(crate) rate_limits: RateLimits,
    /// The delivery of events.
    pub(crate) webhooks: Webhooks,
    /// A file of additional certificate authorities that are trusted for receivers.
    pub(crate) webhook_roots: Option<PathBuf>,
    /// The delivery of emails.
    pub(crate) mail: Mail,
    /// How long records are stored.
    pub(crate) retention: Retention,
    /// When `serve` verifies the ledger each day, in UTC; `None` for never.
    pub(crate) verify_daily_at: Option<time::Time>,
    /// The master key; `None` if it is in `master_key_file` or in the data folder.
    pub(crate) master_key: Option<MasterKey>,
    /// The file that contains the master key.
    pub(crate) master_key_file: Option<PathBuf>,
    pub(crate) log: Log,
}

/// The provider API's listener.
#[derive(Clone)]
pub(crate) struct Http {
    /// The address to listen on.
    pub(crate) listen: SocketAddr,
    /// How connections are encrypted.
    pub(crate) tls: Tls,
    /// Proxies whose forwarding headers are trusted.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// Retired API versions, which respond with 410.
    pub(crate) retired_versions: Vec<String>,
    /// API versions with a date of removal, which responses announce.
    pub(crate) sunsets: Vec<Sunset>,
    /// The maximum number of connections; 0 for as many as the limit of descriptors and the memory allow.
    pub(crate) max_connections: u32,
    /// The maximum number of connections per client address.
    pub(crate) max_connections_per_address: u32,
    /// How long a connection may be idle.
    pub(crate) keep_alive: Duration,
    /// How long load balancers have to notice that the process is stopping.
    pub(crate) drain: Duration,
}

/// How the provider API is encrypted (behaviour 2.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tls {
    /// With a self-signed certificate.
    SelfSigned,
    /// With the operator's certificate.
    Files {
        /// The file with the certificate chain, in PEM.
        certificate: PathBuf,
        /// The file with the private key, in PEM.
        private_key: PathBuf,
    },
    /// By a trusted proxy in front of the service.
    Proxy,
}

/// The delivery of events (behaviour 23).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Webhooks {
    /// Which callback URLs are allowed.
    pub(crate) egress: EgressPolicy,
    /// When a failed delivery is retried.
    pub(crate) schedule: RetrySchedule,
}

/// How long records are stored; `None` means forever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retention {
    /// Delivered events with their attempts.
    pub(crate) events: Option<Duration>,
    /// Sent emails.
    pub(crate) mails: Option<Duration>,
    /// Idempotency records.
    pub(crate) idempotency: Duration,
}

/// The delivery of emails.
#[derive(Clone)]
pub(crate) struct Mail {
    /// The URL of the mail server; may contain a password.
    pub(crate) smtp_url: Option<SecretText>,
    /// The sender's address.
    pub(crate) from: Option<String>,
    /// A file of additional certificate authorities that are trusted for the mail server.
    pub(crate) extra_roots: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Log {
    /// The lowest level that is logged.
    pub(crate) level: log::LevelFilter,
    /// The format of log lines.
    pub(crate) format: LogFormat,
    /// Whether each request is logged at info instead of debug.
    pub(crate) requests: bool,
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// Readable text.
    Text,
    /// JSON, for log collectors.
    Json,
}

/// The addresses that the file or the environment sets; `None` for a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListenAddresses {
    pub(crate) http: Option<SocketAddr>,
    pub(crate) operator: Option<SocketAddr>,
}

impl ListenAddresses {
    /// Reads the addresses from the file, if one is given, and from the environment. Ignores all other variables.
    pub(crate) fn load(
        file: Option<&std::path::Path>,
        environment: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
    ) -> anyhow::Result<Self> {
        let environment = environment
            .filter(|(name, _)| name == "GUERDON_HTTP__LISTEN" || name == "GUERDON_OPERATOR__LISTEN");
        let config = sources::merge_sources(file, environment)?;
        parse::parse_listen_addresses(&parse::SettingsReader::new(&config))
    }
}

impl Settings {
    /// Reads the settings from the file, if one is given, and from the environment.
    pub(crate) fn load(file: Option<&std::path::Path>) -> anyhow::Result<Self> {
        Self::from_sources(file, std::env::vars_os())
    }

    /// Reads the settings from the file and the given environment.
    pub(crate) fn from_sources(
        file: Option<&std::path::Path>,
        environment: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
    ) -> anyhow::Result<Self> {
        let config = sources::merge_sources(file, environment)?;
        parse::parse_settings(&parse::SettingsReader::new(&config))
    }

    /// Returns the URL of the database with secrets masked.
    pub(crate) fn masked_database_url(&self) -> String {
        show::mask_url(self.database_url.expose())
    }

    /// Returns the file of the embedded database; `None` for PostgreSQL.
    pub(crate) fn embedded_database(&self) -> Option<&std::path::Path> {
        match &self.database {
            DatabaseUrl::Sqlite(path) => Some(path),
            DatabaseUrl::Postgres(_) => None,
        }
    }
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
