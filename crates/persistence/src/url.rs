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
const MODES: &[&str] = if cfg!(feature = "postgres-tls") {
    &["verify-full", "verify-ca", "require", "disable"]
} else {
    &["disable"]
};

const UNENCRYPTED: &str = if cfg!(feature = "postgres-tls") {
    "PostgreSQL on another host needs sslmode=verify-full, and sslrootcert with the file of the authority that vouches \
     for it; or sslmode=disable, if the network between is trusted"
} else {
    "this build cannot encrypt the connection to PostgreSQL on another host (those of a release can); say \
     sslmode=disable if the network between is trusted"
};

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => f.debug_tuple("Sqlite").field(path).finish(),
            Self::Postgres(_) => f.write_str("Postgres"), // it may hold a password
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
                parameters(url).filter_map(|parameter| parameter.strip_prefix("sslmode=")).peekable();
            if modes.peek().is_none() || !modes.all(|mode| MODES.contains(&mode)) {
                return Err(OpenError::Url(UNENCRYPTED.into()));
            }
        }
        let mut wanted =
            parameters(url).filter_map(|parameter| parameter.strip_prefix("target_session_attrs="));
        if !wanted.all(|target| matches!(target, "read-write" | "primary")) {
            return Err(OpenError::Url(
                "target_session_attrs must be read-write, which it is where it is not said, or primary"
                    .into(),
            ));
        }
        Ok(Self::Postgres(url.to_owned()))
    }
}

/// The undecoded parameters after the question mark.
pub(crate) fn parameters(url: &str) -> impl Iterator<Item = &str> + Clone {
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
    let named = parameters(url).filter_map(|parameter| {
        parameter.strip_prefix("host=").or_else(|| parameter.strip_prefix("hostaddr="))
    });
    let names_none = hosts.is_empty() && named.clone().all(str::is_empty);
    // libpq takes parameters that the URI does not set from the environment.
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let elsewhere = is_set("PGHOSTADDR") || is_set("PGSERVICE") || (names_none && is_set("PGHOST"));
    !elsewhere
        && parameters(url).all(is_plain)
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

    fn check(url: &str, accepted: bool) {
        assert_eq!(DatabaseUrl::parse(url).is_ok(), accepted, "{url}");
    }

    #[test]
    fn another_host_must_be_said_to_be_trusted() {
        check("sqlite:///var/lib/guerdon/guerdon.db", true);
        check("sqlite://", false);
        check("mysql://localhost/x", false);
        check("postgres://localhost/guerdon", true);
        check("postgres://u:p@127.0.0.1:5432/guerdon", true);
        check("postgres://u:p@[::1]:5432/guerdon", true);
        check("postgres:///guerdon?host=/run/postgresql&user=g", true);
        check("postgres://%2Frun%2Fpg/guerdon", true);
        check("postgres://db.example.com/guerdon", false);
        check("postgres://localhost,db.example.com/guerdon", false);
        check("postgres:///guerdon?host=db.example.com", false);
        check("postgres://db.example.com/guerdon?sslmode=disable", true);
        check("postgres://u:sslmode=disable@db.example.com/guerdon", false);
        check("postgres://localhost/guerdon?%68ost=db.example.com", false);
        check("postgres://localhost/guerdon?service=other", false);
    }

    #[test]
    fn another_host_is_spoken_to_in_secret_where_this_build_can() {
        let can = cfg!(feature = "postgres-tls");
        check("postgres://db.example.com/guerdon?sslmode=verify-full&sslrootcert=/etc/ca.pem", can);
        check("postgres://db1.example.com,db2.example.com/guerdon?sslmode=verify-ca", can);
        check("postgres://db.example.com/guerdon?sslmode=require", can);
        check("postgres://db.example.com/guerdon?sslmode=prefer", false);
        check("postgres://db.example.com/guerdon?sslmode=verify-full&sslmode=allow", false);
        check("postgres://localhost/guerdon?sslmode=prefer", true);
    }

    #[test]
    fn only_a_server_that_takes_writes_may_be_asked_for() {
        check("postgres://localhost:1,localhost:2/guerdon?target_session_attrs=read-write", true);
        check("postgres:///guerdon?host=/a,/b&target_session_attrs=primary", true);
        check("postgres://localhost/guerdon?target_session_attrs=any", false);
        check("postgres://localhost/guerdon?target_session_attrs=prefer-standby", false);
    }
}
