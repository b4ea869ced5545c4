//! The URL of a database.

use std::path::PathBuf;

use crate::OpenError;

/// The location of the data.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// An embedded database in a file.
    Sqlite(PathBuf),
    /// A PostgreSQL server, by its libpq URI.
    Postgres(String),
}

/// The values of `sslmode` that are accepted for another host.
const ENCRYPTION_MODES: &[&str] = if cfg!(feature = "postgres-tls") {
    &["verify-full", "verify-ca", "require", "disable"]
} else {
    &["disable"]
};

const ENCRYPTION_REQUIRED: &str = if cfg!(feature = "postgres-tls") {
    "PostgreSQL on another host needs sslmode=verify-full, and sslrootcert with the certificate file of its authority; or sslmode=disable, if the network between them is trusted"
} else {
    "this build cannot encrypt the connection to PostgreSQL on another host (release builds can); set sslmode=disable if the network between them is trusted"
};

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => f.debug_tuple("Sqlite").field(path).finish(),
            Self::Postgres(_) => f.write_str("Postgres"), // it may contain a password
        }
    }
}

impl DatabaseUrl {
    /// Parses `sqlite://PATH` or `postgres://…`. A PostgreSQL server on another host is refused unless the
    /// URL states how the connection is encrypted, or `sslmode=disable`: by default libpq continues in plain
    /// text if the server, or a man in the middle, does not encrypt. Only a build with the feature
    /// `postgres-tls` can encrypt.
    pub fn parse(url: &str) -> Result<Self, OpenError> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            return match path {
                "" => Err(OpenError::Url("sqlite:// needs a path".into())),
                path => Ok(Self::Sqlite(PathBuf::from(path))),
            };
        }
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(OpenError::Url("must begin with sqlite:// or postgres://".into()));
        }
        if !is_local(url) {
            let mut modes =
                url_parameters(url).filter_map(|parameter| parameter.strip_prefix("sslmode=")).peekable();
            if modes.peek().is_none() || !modes.all(|mode| ENCRYPTION_MODES.contains(&mode)) {
                return Err(OpenError::Url(ENCRYPTION_REQUIRED.into()));
            }
        }
        let mut wanted =
            url_parameters(url).filter_map(|parameter| parameter.strip_prefix("target_session_attrs="));
        if !wanted.all(|target| matches!(target, "read-write" | "primary")) {
            return Err(OpenError::Url(
                "target_session_attrs must be read-write (the default) or primary".into(),
            ));
        }
        Ok(Self::Postgres(url.to_owned()))
    }
}

/// The undecoded parameters after the question mark.
pub(crate) fn url_parameters(url: &str) -> impl Iterator<Item = &str> + Clone {
    url.split_once('?').map_or("", |(_, query)| query).split('&')
}

/// Whether every host of a libpq URI is this machine. Percent-encoding or a service file could hide another
/// host.
fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let before_query = rest.split('?').next().unwrap_or("");
    let authority = before_query.split('/').next().unwrap_or("");
    let hosts = authority.rsplit('@').next().unwrap_or("");
    let is_plain = |parameter: &str| {
        parameter.split('=').next().is_some_and(|name| !name.contains('%') && name != "service")
    };
    let named = url_parameters(url).filter_map(|parameter| {
        parameter.strip_prefix("host=").or_else(|| parameter.strip_prefix("hostaddr="))
    });
    let names_none = hosts.is_empty() && named.clone().all(str::is_empty);
    // libpq takes parameters that the URI does not set from the environment.
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let elsewhere = is_set("PGHOSTADDR") || is_set("PGSERVICE") || (names_none && is_set("PGHOST"));
    !elsewhere
        && url_parameters(url).all(is_plain)
        && hosts.split(',').chain(named.flat_map(|hosts| hosts.split(','))).all(is_local_host)
}

fn is_local_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };
    let is_socket = host.starts_with('/') || host.starts_with("%2F") || host.starts_with("%2f");
    is_socket || matches!(name, "" | "localhost" | "127.0.0.1" | "::1") || host == "::1"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_accepted(url: &str, accepted: bool) {
        assert_eq!(DatabaseUrl::parse(url).is_ok(), accepted, "{url}");
    }

    #[test]
    fn remote_hosts_need_an_explicit_sslmode() {
        assert_accepted("sqlite:///var/lib/guerdon/guerdon.db", true);
        assert_accepted("sqlite://", false);
        assert_accepted("mysql://localhost/x", false);
        assert_accepted("postgres://localhost/guerdon", true);
        assert_accepted("postgres://u:p@127.0.0.1:5432/guerdon", true);
        assert_accepted("postgres://u:p@[::1]:5432/guerdon", true);
        assert_accepted("postgres:///guerdon?host=/run/postgresql&user=g", true);
        assert_accepted("postgres://%2Frun%2Fpg/guerdon", true);
        assert_accepted("postgres://db.example.com/guerdon", false);
        assert_accepted("postgres://localhost,db.example.com/guerdon", false);
        assert_accepted("postgres:///guerdon?host=db.example.com", false);
        assert_accepted("postgres://db.example.com/guerdon?sslmode=disable", true);
        assert_accepted("postgres://u:sslmode=disable@db.example.com/guerdon", false);
        assert_accepted("postgres://localhost/guerdon?%68ost=db.example.com", false);
        assert_accepted("postgres://localhost/guerdon?service=other", false);
    }

    #[test]
    fn remote_hosts_need_encryption_if_supported() {
        let can = cfg!(feature = "postgres-tls");
        assert_accepted("postgres://db.example.com/guerdon?sslmode=verify-full&sslrootcert=/etc/ca.pem", can);
        assert_accepted("postgres://db1.example.com,db2.example.com/guerdon?sslmode=verify-ca", can);
        assert_accepted("postgres://db.example.com/guerdon?sslmode=require", can);
        assert_accepted("postgres://db.example.com/guerdon?sslmode=prefer", false);
        assert_accepted("postgres://db.example.com/guerdon?sslmode=verify-full&sslmode=allow", false);
        assert_accepted("postgres://localhost/guerdon?sslmode=prefer", true);
    }

    #[test]
    fn only_writable_target_sessions_are_accepted() {
        assert_accepted("postgres://localhost:1,localhost:2/guerdon?target_session_attrs=read-write", true);
        assert_accepted("postgres:///guerdon?host=/a,/b&target_session_attrs=primary", true);
        assert_accepted("postgres://localhost/guerdon?target_session_attrs=any", false);
        assert_accepted("postgres://localhost/guerdon?target_session_attrs=prefer-standby", false);
    }
}
