//! Opening a PostgreSQL database.

use std::sync::Arc;

use diesel::prelude::*;
use diesel::sql_types::Text;
use guerdon_domain::ports::{Store, Wakes};
use guerdon_domain::values::fit;

use super::connect::{IN_ORDER, ONE_PLAN, patience, require_english, unreachable};
use super::hosts::Hosts;
use super::pooled::{Limits, Pooled};
use super::sessions::require_own;
use crate::access::{Access, CONNECTIONS_OF_A_COMMAND, OpenError, Opened};
use crate::engine::Engine;
use crate::migrations::check_postgres;
use crate::pool::pool;

/// Workers that do not wait for locks. On two processors, more workers are slower.
const FAST_WORKERS: usize = 2;
/// Workers that wait for locks.
const PATIENT_WORKERS: usize = 2;

fn no_thread(cause: &std::io::Error) -> OpenError {
    OpenError::failed("cannot start a thread", cause)
}

/// Fails if the server would lose commits when its machine stops. No setting of a connection can compensate
/// for this.
fn require_durable(conn: &mut PgConnection) -> Result<(), OpenError> {
    for setting in ["fsync", "full_page_writes"] {
        let value: String =
            diesel::select(diesel::dsl::sql::<Text>(&format!("current_setting('{setting}')")))
                .get_result(conn)
                .map_err(|e| OpenError::failed("cannot ask PostgreSQL for its settings", &e))?;
        if value != "on" {
            return Err(OpenError::Failed(format!(
                "PostgreSQL would lose points in a crash, since its {setting} is {value}: let its superuser say \
                 ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf()"
            )));
        }
    }
    Ok(())
}

pub(crate) fn open(url: &str, access: Access, wakes: Wakes) -> Result<Opened, OpenError> {
    open_within(url, access, &Limits::default(), wakes)
}

/// Opens the database with other limits for the service.
pub(crate) fn open_within(
    url: &str,
    access: Access,
    limits: &Limits,
    wakes: Wakes,
) -> Result<Opened, OpenError> {
    let hosts = Arc::new(Hosts::of(url));
    let connection = || hosts.connect(patience(access)).map_err(|e| unreachable(&e));
    let mut conn = connection()?;
    require_own(&mut conn, &mut connection()?)?;
    require_english(&mut conn)?;
    if access == Access::Serve {
        require_durable(&mut conn)?;
    }
    check_postgres(&mut conn)?;
    drop(conn);
    let connections = |most, setting: Option<&'static str>| {
        let hosts = Arc::clone(&hosts);
        pool(most, move || hosts.connect_for(setting, patience(access)))
            .map_err(|e| OpenError::failed("cannot connect to PostgreSQL", &e))
    };
    if access == Access::Command {
        let few = connections(CONNECTIONS_OF_A_COMMAND, None)?;
        let batches = Pooled::for_batches(few.clone(), wakes.clone());
        let commands = Engine::start(batches, 1, 1).map_err(|e| no_thread(&e))?;
        let store: Arc<dyn Store> = Arc::new(Pooled::for_others(few, wakes));
        return Ok(Opened { requests: Arc::clone(&store), commands: Arc::new(commands), background: store });
    }
    let (writes, reads) = (connections(limits.writes, None)?, connections(limits.reads, Some(IN_ORDER))?);
    let batches = connections(fit(FAST_WORKERS + PATIENT_WORKERS), Some(ONE_PLAN))?;
    let batches = Pooled::for_batches(batches, wakes.clone());
    let commands = Engine::start(batches, FAST_WORKERS, PATIENT_WORKERS).map_err(|e| no_thread(&e))?;
    let background = Pooled::for_others(connections(limits.background, None)?, wakes.clone());
    let requests = Pooled::for_requests(writes, reads, limits.within, wakes);
    Ok(Opened {
        requests: Arc::new(requests),
        commands: Arc::new(commands),
        background: Arc::new(background),
    })
}
