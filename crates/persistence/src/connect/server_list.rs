//! Connects to a URL with several servers, of which only one accepts writes.

use std::sync::atomic::{AtomicUsize, Ordering};

use diesel::connection::SimpleConnection as _;
use diesel::{ConnectionError, ConnectionResult, PgConnection};

use super::postgres::connect_to_server;

/// The servers of a URL. They are tried one after the other, starting with the last one that worked: libpq
/// would always start with the first one, and if that is down, every new connection would wait for it.
pub(crate) struct ServerList {
    /// For each server, the URL without the other servers.
    urls: Vec<String>,
    last_working: AtomicUsize,
}

impl ServerList {
    pub(crate) fn from_url(url: &str) -> Self {
        Self {
            urls: split_hosts(url).unwrap_or_else(|| vec![url.to_owned()]),
            last_working: AtomicUsize::new(0),
        }
    }

    /// Connects, with a timeout in seconds for each server.
    pub(crate) fn connect_to_any(&self, seconds: u32) -> ConnectionResult<PgConnection> {
        let last = self.last_working.load(Ordering::Relaxed);
        let (mut failures, mut refusal) = (Vec::new(), None);
        for (at, url) in self.urls.iter().enumerate().cycle().skip(last).take(self.urls.len()) {
            match connect_to_server(url, seconds) {
                Ok(conn) => {
                    self.last_working.store(at, Ordering::Relaxed);
                    return Ok(conn);
                }
                Err(ConnectionError::BadConnection(cause)) => failures.push(cause),
                Err(other) => refusal = Some(other),
            }
        }
        Err(refusal.unwrap_or_else(|| ConnectionError::BadConnection(failures.join("\n"))))
    }

    /// Connects and then executes `setting`.
    pub(crate) fn connect_and_configure(
        &self,
        setting: Option<&str>,
        seconds: u32,
    ) -> ConnectionResult<PgConnection> {
        let mut conn = self.connect_to_any(seconds)?;
        let set = setting.map_or(Ok(()), |statement| conn.batch_execute(statement));
        set.map_err(ConnectionError::CouldntSetupConfiguration)?;
        Ok(conn)
    }
}

/// Splits a URL into one URL for each server; `None` if the URL has only one server, or has a form that only
/// libpq can parse.
fn split_hosts(url: &str) -> Option<Vec<String>> {
    let (scheme, rest) = url.split_once("://")?;
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = before.split_at(before.find('/').unwrap_or(before.len()));
    let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let hosts: Vec<&str> = hosts.split(',').collect();
    let parameters =
        query.split('&').filter(|parameter| !parameter.is_empty()).map(|parameter| parameter.split_once('='));
    let parameters: Vec<(&str, Vec<&str>)> = parameters
        .map(|parameter| parameter.map(|(name, all)| (name, parameter_values(name, all))))
        .collect::<Option<_>>()?;
    let count = parameters.iter().map(|parameter| parameter.1.len()).chain([hosts.len()]).max()?;
    // A list with one value applies to all servers. Any other length is a mistake, which libpq reports.
    let matches_count = |values: &[&str]| values.len() == 1 || values.len() == count;
    if count == 1 || !matches_count(&hosts) || !parameters.iter().all(|parameter| matches_count(&parameter.1))
    {
        return None;
    }
    let value_for =
        |all: &[&str], at: usize| all.get(at).or(all.first()).copied().unwrap_or_default().to_owned();
    let url = |at: usize| {
        let query: Vec<String> =
            parameters.iter().map(|(name, all)| format!("{name}={}", value_for(all, at))).collect();
        let separator = if query.is_empty() { "" } else { "?" };
        format!("{scheme}://{user}{}{path}{separator}{}", value_for(&hosts, at), query.join("&"))
    };
    Some((0..count).map(url).collect())
}

/// The values of a parameter: one for each server, or one for all.
fn parameter_values<'a>(name: &str, value: &'a str) -> Vec<&'a str> {
    if ["host", "hostaddr", "port"].contains(&name) { value.split(',').collect() } else { vec![value] }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::atomic::Ordering;

    use diesel::connection::SimpleConnection as _;

    use super::{ServerList, split_hosts};
    use crate::testing;
    use crate::url::DatabaseUrl;

    fn assert_split(url: &str, expected: &[&str]) {
        assert_eq!(split_hosts(url).unwrap_or_default(), expected, "{url}");
    }

    #[test]
    fn a_url_is_split_into_one_per_server() {
        assert_split(
            "postgres://u:p,q@a:1,[::1]:2/db?sslmode=disable",
            &["postgres://u:p,q@a:1/db?sslmode=disable", "postgres://u:p,q@[::1]:2/db?sslmode=disable"],
        );
        assert_split("postgres://a,b", &["postgres://a", "postgres://b"]);
        assert_split(
            "postgres:///db?host=/x,/y&port=1,2&user=u",
            &["postgres:///db?host=/x&port=1&user=u", "postgres:///db?host=/y&port=2&user=u"],
        );
        assert_split("postgres://a,b/db?port=7", &["postgres://a/db?port=7", "postgres://b/db?port=7"]);
        for whole in [
            "postgres://a/db",
            "postgres:///db?host=/x",
            "postgres://a,b/db?port=1,2,3",
            "postgres://a,b/?port=1,2,3",
        ] {
            assert_split(whole, &[]);
        }
    }

    #[test]
    fn the_last_working_server_is_tried_first() {
        for database in testing::create_databases() {
            let DatabaseUrl::Postgres(url) = database.database_url() else { continue };
            let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut hosts = ServerList::from_url(&url);
            hosts.urls.insert(0, format!("postgres://127.0.0.1:{closed}/postgres"));
            drop(hosts.connect_to_any(2).unwrap());
            assert_eq!(hosts.last_working.load(Ordering::Relaxed), 1);
            hosts.urls.truncate(1);
            let cause = hosts.connect_to_any(2).err().unwrap().to_string();
            assert!(cause.contains(&closed.to_string()), "{cause}");
        }
    }

    #[test]
    fn read_only_servers_are_skipped() {
        for database in testing::create_databases() {
            let DatabaseUrl::Postgres(url) = database.database_url() else { continue };
            let only_reads = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', \
                              current_database()); END $$";
            ServerList::from_url(&url).connect_to_any(2).unwrap().batch_execute(only_reads).unwrap();
            let cause = ServerList::from_url(&url).connect_to_any(2).err().unwrap().to_string();
            assert!(cause.contains("session is read-only"), "{cause}");
        }
    }
}
