//! The orderly shutdown: readiness ends, load balancers get time to notice, and requests and deliveries in flight
//! finish.

use std::future::Future;
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use guerdon_http_api::ServiceState;
use tokio::time::sleep;

/// How long a new connection has to send its request after the listener stops accepting. Without this time, the server
/// would close the connection as idle before its request arrives.
const NEW_CONNECTION_GRACE: Duration = Duration::from_millis(500);
/// How long commands from the socket may take to end.
pub(super) const COMMANDS_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections and deliveries in flight when a shutdown begins.
pub(super) struct InFlight {
    /// Open connections to the provider API.
    pub(super) connections: usize,
    pub(super) deliveries: usize,
}

/// How a shutdown went.
#[derive(Clone, Copy)]
pub(crate) struct StopReport {
    pub(super) began_at: Instant,
    /// Deliveries that did not finish.
    pub(super) deliveries: usize,
    /// Commands that did not finish.
    pub(super) commands: usize,
}

impl StopReport {
    /// Logs that the process ends now.
    pub(crate) fn log_stopped(&self) {
        let Self { began_at, deliveries, commands } = *self;
        let duration_ms = u64::try_from(began_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        if deliveries + commands == 0 {
            log::info!(duration_ms; "stopped");
        } else {
            log::warn!(
                duration_ms, deliveries, commands;
                "stopped before all work had finished: unfinished deliveries are sent again; check the results of unfinished commands"
            );
        }
    }
}

/// Ends readiness, waits for `drain`, stops the provider API, and waits for the deliveries in flight. If `stop_now`
/// completes before that, stops immediately. Returns how many deliveries did not finish; after an immediate stop, how
/// many were in flight when the shutdown began.
pub(super) async fn stop_in_order<F: Future<Output = ()>>(
    service_state: &ServiceState,
    drain: Duration,
    in_flight: &InFlight,
    api: &ServerHandle,
    deliveries_stopped: impl Future<Output = usize>,
    stop_now: &mut impl FnMut() -> F,
) -> usize {
    let InFlight { connections, deliveries } = *in_flight;
    log::info!(connections, deliveries; "stopping: finishing requests and deliveries in flight");
    service_state.set_draining(true);
    let graceful = async {
        sleep(drain).await;
        api.pause().await;
        sleep(NEW_CONNECTION_GRACE).await;
        api.stop(true).await;
        deliveries_stopped.await
    };
    tokio::select! {
        abandoned = graceful => abandoned,
        () = stop_now() => {
            log::warn!("stopping immediately");
            api.stop(false).await;
            deliveries
        }
    }
}
