//! Opening a PostgreSQL database.

use std::sync::Arc;

use diesel::prelude::*;
use diesel::sql_types::Text;
use guerdon_domain::ports::{Store, Wakes};

use super::connect::{IN_ORDER, ONE_PLAN, patience, require_english, unreachable};
use super::hosts::Hosts;
use super::pooled::{Limits, Pooled};
use super::sessions::require_own;
use super::sets::Sets;
use crate::access::{Access, CONNECTIONS_OF_A_COMMAND, OpenError, Opened};
use crate::migrations::check_postgres;
use crate::pool::pool;

/// Refuses a server that would lose commits when its machine stops: no setting of a connection can make up for these.
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

/// The same with other limits for the service.
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
        let store: Arc<dyn Store> =
            Arc::new(Pooled::for_others(connections(CONNECTIONS_OF_A_COMMAND, None)?, wakes));
        return Ok(Opened { requests: Arc::clone(&store), background: store });
    }
    let (writes, reads) = (connections(limits.writes, None)?, connections(limits.reads, Some(IN_ORDER))?);
    let sets = Sets::begin(connections(Sets::CONNECTIONS, Some(ONE_PLAN))?, wakes.clone())
        .map_err(|e| OpenError::failed("cannot start a thread", &e))?;
    let background = Pooled::for_others(connections(limits.background, None)?, wakes.clone());
    let requests = Pooled::for_requests(sets, writes, reads, limits.within, wakes);
    Ok(Opened { requests: Arc::new(requests), background: Arc::new(background) })
}
