//! The end, in order: no longer ready, a moment for balancers to see it, the requests and the deliveries under way,
//! then out.

use std::future::Future;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use guerdon_http_api::Gate;
use tokio::time::sleep;

/// How long a connection that was just made has to send its request, once no more are accepted: the server then closes
/// what is idle, and a request on its way to it would be cut.
const SETTLE: Duration = Duration::from_millis(500);
/// How long handed-over commands have to end.
pub(super) const COMMANDS_WITHIN: Duration = Duration::from_secs(10);

/// Ends the provider API, once balancers had `drain` to see that this process is no longer ready, and waits for the
/// deliveries under way; where `again` is ready meanwhile, at once.
pub(super) async fn in_order<F: Future<Output = ()>>(
    gate: &Gate,
    drain: Duration,
    api: &ServerHandle,
    delivered: impl Future,
    again: &mut impl FnMut() -> F,
) {
    log::info!("stopping: finishing the requests under way");
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
            log::warn!("stopping at once");
            api.stop(false).await;
        }
    }
}
