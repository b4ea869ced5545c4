//! Listening.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::from_fn;
use actix_web::{App, HttpServer, web};

use crate::api::{Api, Transport};
use crate::state::State;
use crate::{admission, connection, envelope, routes};

const WORKERS_MIN: usize = 2;
/// Over all workers: enough that the store can gather what waits for the same commit.
const BLOCKING_THREADS_MIN: usize = 64;
const BLOCKING_THREADS_PER_WORKER_MIN: usize = 32;
const SHUTDOWN_SECONDS: u64 = 30;
const BACKLOG: u32 = 2_048;
const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(5);
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// An API that listens; it serves once `server` is awaited.
pub struct Listening {
    /// The server; its handle stops it, finishing what runs within 30 seconds.
    pub server: Server,
    /// Where it listens; the port is real where 0 was asked for.
    pub address: SocketAddr,
}

/// Listens on an address: with TLS where a configuration is given, in plain HTTP only for [`Transport::Proxy`].
pub fn listen(
    api: Api,
    address: SocketAddr,
    tls: Option<rustls::ServerConfig>,
) -> std::io::Result<Listening> {
    if tls.is_none() && matches!(api.transport, Transport::Tls) {
        let reason = "a transport of TLS needs a TLS configuration";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, reason));
    }
    let workers = available_parallelism().map_or(WORKERS_MIN, NonZeroUsize::get).max(WORKERS_MIN);
    let threads = BLOCKING_THREADS_MIN.div_ceil(workers).max(BLOCKING_THREADS_PER_WORKER_MIN);
    let state = web::Data::from(State::new(api));
    let server = HttpServer::new(move || {
        App::new()
            .app_data(state.clone())
            .wrap(from_fn(admission::admit))
            .wrap(from_fn(envelope::wrap))
            .configure(routes::configure)
    })
    .on_connect(|stream, extensions| connection::watch(stream, extensions, KEEP_ALIVE))
    .workers(workers)
    .worker_max_blocking_threads(threads)
    .backlog(BACKLOG)
    .keep_alive(KEEP_ALIVE)
    .client_request_timeout(REQUEST_HEAD_TIMEOUT)
    .tls_handshake_timeout(HANDSHAKE_TIMEOUT)
    .shutdown_timeout(SHUTDOWN_SECONDS)
    .disable_signals();
    let server = match tls {
        Some(tls) => server.bind_rustls_0_23(address, tls)?,
        None => server.bind(address)?,
    };
    let bound = server.addrs().into_iter().next().unwrap_or(address);
    Ok(Listening { server: server.run(), address: bound })
}
