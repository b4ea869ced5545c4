//! The orderly shutdown: readiness ends, load balancers get time to notice, and requests and deliveries in flight
//! finish.

use std::future::Future;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use guerdon_http_api::ServiceState;
use tokio::time::sleep;

/// How long a new connection has to send its request after the listener stops accepting. Without this time, the server
/// would close the connection as idle while its request is on the way.
const NEW_CONNECTION_GRACE: Duration = Duration::from_millis(500);
/// How long commands from the socket may take to end.
pub(super) const COMMANDS_TIMEOUT: Duration = Duration::from_secs(10);

/// Ends readiness, waits for `drain`, stops the provider API, and waits for the deliveries in flight. If `again`
/// becomes ready meanwhile, it stops immediately.
pub(super) async fn stop_in_order<F: Future<Output = ()>>(
    service_state: &ServiceState,
    drain: Duration,
    api: &ServerHandle,
    deliveries_stopped: impl Future,
    stop_now: &mut impl FnMut() -> F,
) {
    log::info!("stopping: finishing requests in flight");
    service_state.set_draining(true);
    let graceful = async {
        sleep(drain).await;
        api.pause().await;
        sleep(NEW_CONNECTION_GRACE).await;
        api.stop(true).await;
        deliveries_stopped.await;
    };
    tokio::select! {
        () = graceful => {}
        () = stop_now() => {
            log::warn!("stopping immediately");
            api.stop(false).await;
        }
    }
}
