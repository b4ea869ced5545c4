//! The orderly shutdown: readiness ends, load balancers get time to notice, requests and deliveries in flight finish.

use std::future::Future;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use guerdon_http_api::Gate;
use tokio::time::sleep;

/// How long a new connection has to send its request after the listener stops accepting. Then the server closes idle
/// connections, and would cut off a request that is on its way.
const SETTLE: Duration = Duration::from_millis(500);
/// How long commands from the socket may take to end.
pub(super) const COMMANDS_WITHIN: Duration = Duration::from_secs(10);

/// Ends readiness, waits for `drain`, stops the provider API, and waits for the deliveries in flight. If `again`
/// becomes ready meanwhile, it stops immediately.
pub(super) async fn in_order<F: Future<Output = ()>>(
    gate: &Gate,
    drain: Duration,
    api: &ServerHandle,
    delivered: impl Future,
    again: &mut impl FnMut() -> F,
) {
    log::info!("stopping: finishing requests in flight");
    gate.set_draining(true);
    let gentle = async {
        sleep(drain).await;
        api.pause().await;
        sleep(SETTLE).await;
        api.stop(true).await;
        delivered.await;
    };
    tokio::select! {
        () = gentle => {}
        () = again() => {
            log::warn!("stopping immediately");
            api.stop(false).await;
        }
    }
}
