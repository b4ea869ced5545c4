//! The settings: a TOML file, environment variables over it, and a default for every key.

mod keys;
mod master_key;
mod parse;
mod show;
mod sources;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use guerdon_http_api::Sunset;
use guerdon_persistence::DatabaseUrl;
use guerdon_webhook_dispatcher::Policy;
use ipnet::IpNet;

use crate::platform::SecretText;

pub(crate) use master_key::MasterKey;
pub(crate) use show::Shown;

/// All settings.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The data folder.
    pub(crate) data_dir: PathBuf,
    pub(crate) database: DatabaseUrl,
    /// The URL of the database as it was configured; may contain a password.
    pub(crate) database_url: SecretText,
    /// Whether `serve` applies pending migrations; otherwise it refuses such a database.
    pub(crate) migrate: bool,
    /// Whether a PostgreSQL is accepted that loses commits in a crash, for tests. Set only by `GUERDON_ALLOW_UNSAFE_POSTGRES=1`;
    /// not read from a file and not shown.
    pub(crate) allow_unsafe_postgres: bool,
    /// The provider API.
    pub(crate) http: Http,
    /// The address of the operator's listener.
    pub(crate) operator_listen: SocketAddr,
    /// The service as its clients reach it, without a trailing slash.
    pub(crate) service_url: String,
    /// The limits of the provider API.
    pub(crate) rate_limit: RateLimit,
    /// The delivery of events.
    pub(crate) webhooks: Webhooks,
    /// Additional authorities that may sign certificates of receivers.
    pub(crate) webhook_roots: Option<PathBuf>,
    /// The delivery of mails.
    pub(crate) mail: Mail,
    /// How long records are kept.
    pub(crate) retention: Retention,
    /// The master key; `None` if it is in the file below or in the data folder.
    pub(crate) master_key: Option<MasterKey>,
    /// The file that contains the master key.
    pub(crate) master_key_file: Option<PathBuf>,
    pub(crate) log: Log,
}

/// The provider API's listener.
#[derive(Clone)]
pub(crate) struct Http {
    /// Its address.
    pub(crate) listen: SocketAddr,
    /// How it is encrypted.
    pub(crate) tls: Tls,
    /// API versions that answer 410.
    pub(crate) retired_versions: Vec<String>,
    /// Versions that say when they end.
    pub(crate) sunsets: Vec<Sunset>,
    /// The most connections; 0 for as many as the system's limit of descriptors leaves.
    pub(crate) max_connections: u32,
    /// The most of one address.
    pub(crate) max_connections_per_address: u32,
    /// How long a connection may be idle.
    pub(crate) keep_alive: Duration,
    /// How long balancers have to see that this process stops.
    pub(crate) drain: Duration,
}

/// How the provider API is encrypted (behaviour 2.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tls {
    /// With a certificate of our own making.
    SelfSigned,
    /// With the operator's certificate.
    Files {
        /// The chain, in PEM.
        certificate: PathBuf,
        /// Its key, in PEM.
        private_key: PathBuf,
    },
    /// By a proxy in front; headers of these proxies are trusted.
    Proxy {
        /// The proxies' addresses.
        trusted: Vec<IpNet>,
    },
}

/// The rate limits (behaviour 20); 0 turns one off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateLimit {
    /// Requests per second of one provider.
    pub(crate) requests_per_second: u32,
    /// How many may come at once.
    pub(crate) burst: u32,
    /// Failed credentials per minute.
    pub(crate) failed_logins_per_minute: u32,
}

/// The delivery of events (behaviour 23).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Webhooks {
    /// Whether callbacks may lead into private networks.
    pub(crate) allow_private_networks: bool,
    /// Whether callbacks may be plain http.
    pub(crate) allow_http: bool,
    /// What every retry wait is divided by.
    pub(crate) time_scale: f64,
}

/// How long records are kept after their use; `None` means without end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retention {
    /// Delivered events, with their attempts.
    pub(crate) events: Option<Duration>,
    /// Mails that were sent.
    pub(crate) mails: Option<Duration>,
    /// Responses that are kept for repeated requests.
    pub(crate) idempotency: Duration,
}

impl Webhooks {
    /// The egress policy for callbacks.
    pub(crate) fn policy(&self) -> Policy {
        Policy { allow_http: self.allow_http, allow_private_networks: self.allow_private_networks }
    }
}

/// The delivery of mails.
#[derive(Clone)]
pub(crate) struct Mail {
    /// The URL of the mail server; may contain a password.
    pub(crate) smtp_url: Option<SecretText>,
    /// The sender.
    pub(crate) from: Option<String>,
    /// Additional authorities that may sign the certificate of the mail server.
    pub(crate) extra_roots: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Log {
    /// The least level that is written.
    pub(crate) level: log::LevelFilter,
    /// One line of text or of JSON.
    pub(crate) format: LogFormat,
    /// Whether each request leaves a line at info, not at debug alone.
    pub(crate) requests: bool,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For collectors.
    Json,
}

impl Settings {
    /// Reads the settings from a file, where one is named, and from the environment.
    pub(crate) fn load(file: Option<&std::path::Path>) -> anyhow::Result<Self> {
        Self::from_sources(file, std::env::vars_os())
    }

    /// Reads the settings from a file and from this environment.
    pub(crate) fn from_sources(
        file: Option<&std::path::Path>,
        environment: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
    ) -> anyhow::Result<Self> {
        let config = sources::read(file, environment)?;
        parse::settings(&parse::Source::new(&config))
    }

    /// Every key with its value, in the order of the reference; secrets are masked.
    pub(crate) fn shown(&self) -> Shown {
        show::shown(self)
    }

    /// The database's URL as it may be shown.
    pub(crate) fn shown_database(&self) -> String {
        show::masked(self.database_url.expose())
    }

    /// The embedded database's file; none for PostgreSQL.
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
