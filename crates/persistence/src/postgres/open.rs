//! Opening a PostgreSQL database.

use std::sync::{Arc, Mutex, PoisonError};

use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use guerdon_domain::ports::{Notifiers, Store};
use guerdon_domain::values::checked_cast;

use super::pooled_store::{PooledStore, StoreLimits};
use crate::access::{Access, COMMAND_CONNECTIONS, OpenDatabase, OpenError, thread_error};
use crate::connect::postgres::{
    PREFER_INDEX_ORDER, USE_GENERIC_PLANS, connect_timeout_seconds, connection_error, require_english,
};
use crate::connect::server_list::ServerList;
use crate::connect::session_check::require_own_sessions;
use crate::engine::Engine;
use crate::migrations::check_postgres;
use crate::pool::{Pool, create_pool};
use crate::write_form::WriteForm;

/// Workers that do not wait for locks. On two processors, more workers are slower.
const FAST_WORKERS: usize = 2;
/// Workers that wait for locks.
const PATIENT_WORKERS: usize = 2;

/// Fails if the server would lose commits when its machine stops. No setting of a connection can compensate
/// for this.
fn require_durable(conn: &mut PgConnection) -> Result<(), OpenError> {
    let mut corrections = String::new();
    for setting in ["fsync", "full_page_writes"] {
        let value: String =
            diesel::select(diesel::dsl::sql::<Text>(&format!("current_setting('{setting}')")))
                .get_result(conn)
                .map_err(|e| OpenError::failed_because("cannot read PostgreSQL's settings", &e))?;
        if value != "on" {
            corrections += &format!("ALTER SYSTEM SET {setting} = on; ");
        }
    }
    if corrections.is_empty() {
        return Ok(());
    }
    Err(OpenError::Failed(format!(
        "PostgreSQL would lose points in a crash: run as a superuser {corrections}SELECT pg_reload_conf()"
    )))
}

/// The form of writes that the server needs.
fn write_form_of(conn: &mut PgConnection) -> Result<WriteForm, OpenError> {
    let has_citus = diesel::dsl::sql::<Bool>("EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')");
    let has_citus: bool = diesel::select(has_citus)
        .get_result(conn)
        .map_err(|e| OpenError::failed_because("cannot read PostgreSQL's extensions", &e))?;
    Ok(if has_citus { WriteForm::StatementPerTable } else { WriteForm::OneStatement })
}

/// Opens the database. `limits` applies to the service; a command uses a separate small pool.
pub(crate) fn open_postgres(
    url: &str,
    access: Access,
    limits: &StoreLimits,
    notifiers: Notifiers,
) -> Result<OpenDatabase, OpenError> {
    let servers = Arc::new(ServerList::from_url(url));
    let connection =
        || servers.connect_to_any(connect_timeout_seconds(access)).map_err(|e| connection_error(&e));
    let (mut conn, mut other) = (connection()?, connection()?);
    require_own_sessions(&mut conn, &mut other)?;
    require_english(&mut conn)?;
    if access == Access::Serve {
        require_durable(&mut conn)?;
    }
    check_postgres(&mut conn)?;
    let write_form = match limits.write_form {
        Some(form) => form,
        None => write_form_of(&mut conn)?,
    };
    // The pools begin with the connections that are already open.
    let open_connections = Arc::new(Mutex::new(vec![other, conn]));
    let spare_connections = u32::from(access == Access::Serve);
    let connections = |connections_max, setting: Option<&'static str>| {
        let (servers, open_connections) = (Arc::clone(&servers), Arc::clone(&open_connections));
        let take_open = move || open_connections.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connect = move || match setting.map_or_else(&take_open, |_| None) {
            Some(open) => Ok(open),
            None => servers.connect_and_configure(setting, connect_timeout_seconds(access)),
        };
        create_pool(connections_max, spare_connections, connect)
            .map_err(|e| OpenError::failed_because("cannot connect to PostgreSQL", &e))
    };
    // Background jobs have no time limit, and each command of a batch has its own.
    let without_time_limit =
        |pool: Pool<PgConnection>| PooledStore::new(pool.clone(), pool, None, notifiers.clone(), write_form);
    if access == Access::Command {
        let pool = connections(COMMAND_CONNECTIONS, None)?;
        let commands = Engine::start_workers(without_time_limit(pool.clone()), 1, 1);
        let commands = commands.map_err(|e| thread_error(&e))?;
        let store: Arc<dyn Store> = Arc::new(without_time_limit(pool));
        return Ok(OpenDatabase {
            requests: Arc::clone(&store),
            commands: Arc::new(commands),
            background: Arc::clone(&store),
            health: store,
        });
    }
    let (writes, reads) =
        (connections(limits.writes, None)?, connections(limits.reads, Some(PREFER_INDEX_ORDER))?);
    let batches = connections(checked_cast(FAST_WORKERS + PATIENT_WORKERS), Some(USE_GENERIC_PLANS))?;
    let commands = Engine::start_workers(without_time_limit(batches), FAST_WORKERS, PATIENT_WORKERS);
    let commands = commands.map_err(|e| thread_error(&e))?;
    let background = without_time_limit(connections(limits.background, None)?);
    let health = without_time_limit(connections(1, None)?);
    let requests = PooledStore::new(writes, reads, Some(limits.time_limit), notifiers, write_form);
    Ok(OpenDatabase {
        requests: Arc::new(requests),
        commands: Arc::new(commands),
        background: Arc::new(background),
        health: Arc::new(health),
    })
}
