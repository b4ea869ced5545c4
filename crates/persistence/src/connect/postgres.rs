//! Connections to a PostgreSQL server.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use guerdon_domain::ports::Deadlines;

use crate::access::{Access, OpenError};
use crate::url::url_parameters;

/// The connection timeout in seconds. A request waits for the connection; a command can wait longer.
pub(crate) fn connect_timeout_seconds(access: Access) -> u32 {
    if access == Access::Command { 10 } else { 2 }
}

/// Defaults for parameters that a URL does not set. A connection to a server that does not respond is dropped after
/// slightly more than five seconds, so that none is left when another server has taken over. A read-only server is
/// skipped: libpq tries the next one.
const DEFAULT_PARAMETERS: [(&str, &str); 5] = [
    ("tcp_user_timeout", "5000"),
    ("keepalives_idle", "4"),
    ("keepalives_interval", "2"),
    ("target_session_attrs", "read-write"),
    ("fallback_application_name", "guerdon"),
];

/// Marks a session as one that may write journal entries, events and audit entries. The mark is an advisory lock whose
/// number identifies the schema of the tables. `complete_before()` waits only for transactions of marked sessions, so
/// the lock is acquired before the first transaction and held until the session ends. `journal_position()` refuses such
/// rows of any other session. Both functions are defined in the first migration.
const MARK_AS_WRITER: &str = "SELECT pg_advisory_lock_shared(1735746917, relnamespace::integer) FROM pg_class \
    WHERE oid = to_regclass('settings'); SET guerdon.writer = on";

/// The URL with defaults for the parameters that it does not set.
fn with_default_parameters(url: &str, seconds: u32) -> String {
    let seconds = seconds.to_string();
    let defaults = [("connect_timeout", seconds.as_str())].into_iter().chain(DEFAULT_PARAMETERS);
    let is_unset =
        |name: &str| !url_parameters(url).any(|parameter| parameter.split('=').next() == Some(name));
    let mut full_url = url.to_owned();
    for (name, value) in defaults.filter(|(name, _)| is_unset(name)) {
        let separator = match full_url.split_once('?') {
            None => "?",
            Some((_, "")) => "",
            Some(_) => "&",
        };
        full_url.push_str(&format!("{separator}{name}={value}"));
    }
    full_url
}

/// Switches the server's messages to English if the role is a superuser; other roles may not change the language.
/// This is a plain query, because a PL/pgSQL block would make each session load the library of PL/pgSQL.
const USE_ENGLISH: &str = "SELECT set_config('lc_messages', 'C', false) FROM pg_roles \
    WHERE rolname = current_user AND rolsuper";

/// Connects to a server that accepts writes, within a timeout in seconds.
pub(crate) fn connect_to_server(url: &str, seconds: u32) -> diesel::ConnectionResult<PgConnection> {
    let mut conn = PgConnection::establish(&with_default_parameters(url, seconds))?;
    conn.batch_execute(&format!(
        "SET client_min_messages = warning; SET TIME ZONE 'UTC'; \
         SET synchronous_commit = on; SET statement_timeout = '{}s'; SET lock_timeout = '{}s'; \
         SET idle_in_transaction_session_timeout = '60s'; {MARK_AS_WRITER}; {USE_ENGLISH}",
        Deadlines::STATEMENT.as_secs(),
        Deadlines::LOCK.as_secs()
    ))
    .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
    Ok(conn)
}

/// For connections that execute batches of commands. The few statements of a batch always do the same work, whatever
/// the number of rows, so one generic plan per statement is enough. The plan must look up each row by its key, even if
/// the tables were almost empty when the plan was made.
pub(crate) const USE_GENERIC_PLANS: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
    SET enable_hashjoin = off; SET enable_mergejoin = off";
/// For connections of requests that only read. Their queries need few rows in the order of an index. Without this
/// setting, the planner would join or sort all rows of an owner if a table has grown since it was last analysed.
pub(crate) const PREFER_INDEX_ORDER: &str = "SET default_transaction_read_only = on; SET enable_bitmapscan = off; \
     SET enable_hashjoin = off; SET enable_mergejoin = off";

/// Fails if the server's messages are not in English. The store distinguishes conflicts from other errors by
/// these messages.
pub(crate) fn require_english(conn: &mut PgConnection) -> Result<(), OpenError> {
    let language: String = diesel::select(diesel::dsl::sql::<Text>("current_setting('lc_messages')"))
        .get_result(conn)
        .map_err(|e| OpenError::failed_because("cannot read PostgreSQL's language", &e))?;
    let is_english = ["C", "POSIX"].contains(&language.as_str())
        || ["C.", "en_", "English"].iter().any(|prefix| language.starts_with(prefix));
    // An empty setting means the language of the server's environment, which cannot be read.
    if language.is_empty() || is_english {
        return Ok(());
    }
    Err(OpenError::Failed(format!(
        "PostgreSQL's messages must be in English, not {language}: run as a superuser ALTER DATABASE … SET lc_messages = 'C'"
    )))
}

/// Why no connection was made. libpq's message about an invalid URL may contain a password, so it is not
/// passed on.
pub(crate) fn connection_error(cause: &ConnectionError) -> OpenError {
    if let ConnectionError::CouldntSetupConfiguration(cause) = cause {
        return OpenError::failed_because("PostgreSQL rejects a setting", cause);
    }
    let text = cause.to_string();
    if text.starts_with("connection to server") {
        return OpenError::failed_because("cannot connect to PostgreSQL", &text);
    }
    OpenError::Failed(
        "cannot connect to PostgreSQL: check that database.url is a valid URI and its host exists".into(),
    )
}

#[cfg(test)]
mod tests {
    use diesel::prelude::*;
    use diesel::sql_types::Text;

    use super::{connect_to_server, with_default_parameters};
    use crate::testing::postgres_if_covered;

    #[test]
    fn a_commit_waits_for_the_disk_even_if_the_default_of_the_database_is_different() {
        let Some(database) = postgres_if_covered() else { return };
        database.execute_sql(
            "",
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
        );
        let mut conn = connect_to_server(&database.url, 10).unwrap();
        let setting = diesel::dsl::sql::<Text>("current_setting('synchronous_commit')");
        assert_eq!(diesel::select(setting).get_result::<String>(&mut conn).unwrap(), "on");
    }

    #[test]
    fn parameters_in_the_url_take_precedence() {
        assert_eq!(
            with_default_parameters("postgres:///db", 2),
            "postgres:///db?connect_timeout=2&tcp_user_timeout=5000&keepalives_idle=4&keepalives_interval=2&\
             target_session_attrs=read-write&fallback_application_name=guerdon"
        );
        assert_eq!(
            with_default_parameters("postgres:///db?", 2),
            with_default_parameters("postgres:///db", 2)
        );
        assert_eq!(
            with_default_parameters(
                "postgres://h/db?keepalives_idle=9&target_session_attrs=primary&connect_timeout=7",
                2
            ),
            "postgres://h/db?keepalives_idle=9&target_session_attrs=primary&connect_timeout=7&tcp_user_timeout=5000&\
             keepalives_interval=2&fallback_application_name=guerdon"
        );
    }
}
