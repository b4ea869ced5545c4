//! Listening.

use std::future::{Future, ready};
use std::io::Error;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_service::{ServiceFactory, ServiceFactoryExt as _, map_config};
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream};
use actix_tls::accept::{TlsError, max_concurrent_tls_connect};
use actix_web::dev::{AppConfig, Server, fn_service};
use actix_web::middleware::from_fn;
use actix_web::rt::net::TcpStream;
use actix_web::{App, web};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpSocket;

use super::admission::{Admission, admit};
use super::envelope;
use super::framing::{Guarded, Refuse};
use crate::api::{Api, Transport};
use crate::endpoints::configure;
use crate::operation::state::State;

const WORKERS_MIN: usize = 2;
/// Over all workers: enough that the store can gather what waits for the same commit.
const BLOCKING_THREADS_MIN: usize = 64;
const BLOCKING_THREADS_PER_WORKER_MIN: usize = 32;
const SHUTDOWN_SECONDS: u64 = 30;
const BACKLOG: u32 = 2_048;
/// Handshakes under way in one worker: enough that connections which say nothing keep nobody out for the five seconds
/// that each of them has.
const HANDSHAKES_MAX: usize = 16_384;
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a connection that is closed may take to say so.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
const PROTOCOL: &[u8] = b"http/1.1";

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
    let state = State::new(api);
    let admission = web::Data::new(Admission::new(Arc::clone(&state)));
    let state = web::Data::from(state);
    let (listener, address) = bind(address)?;
    let builder = Server::build()
        .workers(workers)
        .worker_max_blocking_threads(threads)
        .shutdown_timeout(SHUTDOWN_SECONDS)
        .disable_signals();
    let stop = builder.graceful_shutdown_signal();
    let stopping = move || {
        let stop = stop.clone();
        async move { stop.notified().await }
    };
    max_concurrent_tls_connect(HANDSHAKES_MAX);
    let builder = match tls {
        Some(tls) => builder.listen("https", listener, move || {
            let http = http(state.clone(), admission.clone(), stopping.clone());
            accept(tls.clone(), refuse(&state)).and_then(http.map_err(TlsError::Service))
        })?,
        None => builder.listen("http", listener, move || {
            let refuse = refuse(&state);
            let plain = fn_service(move |stream: TcpStream| {
                let peer = stream.peer_addr().ok();
                ready(Ok((Guarded::new(stream, Refuse::clone(&refuse)), peer)))
            });
            plain.and_then(http(state.clone(), admission.clone(), stopping.clone()))
        })?,
    };
    Ok(Listening { server: builder.run(), address })
}

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?.into_std()?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// How a head that is no sound request is answered.
fn refuse(state: &web::Data<State>) -> Refuse {
    let state = Arc::clone(state);
    Rc::new(move |refusal, is_head| envelope::refuse(&state, refusal, is_head))
}

/// Ends TLS.
fn accept(
    mut tls: rustls::ServerConfig,
    refuse: Refuse,
) -> impl ServiceFactory<
    TcpStream,
    Config = (),
    Response = (Guarded<TlsStream<TcpStream>>, Option<SocketAddr>),
    Error = TlsError<Error, DispatchError>,
    InitError = (),
> {
    tls.alpn_protocols.insert(0, PROTOCOL.to_vec());
    let mut acceptor = Acceptor::new(tls);
    acceptor.set_handshake_timeout(HANDSHAKE_TIMEOUT);
    acceptor.map_err(TlsError::into_service_error).map(move |stream: TlsStream<TcpStream>| {
        let peer = stream.get_ref().0.peer_addr().ok();
        (Guarded::new(stream, Refuse::clone(&refuse)), peer)
    })
}

/// Serves the requests of connections. How long a client may take for a head the strict stream knows.
fn http<IO, F>(
    state: web::Data<State>,
    admission: web::Data<Admission>,
    stopping: impl Fn() -> F + 'static,
) -> impl ServiceFactory<
    (Guarded<IO>, Option<SocketAddr>),
    Config = (),
    Response = (),
    Error = DispatchError,
    InitError = (),
>
where
    IO: AsyncRead + AsyncWrite + Unpin + 'static,
    F: Future<Output = ()> + 'static,
{
    let app = App::new()
        .app_data(state)
        .app_data(admission)
        .wrap(from_fn(admit))
        .wrap(from_fn(envelope::wrap))
        .configure(configure);
    HttpService::build()
        .graceful_shutdown_signal(stopping)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(CLOSE_TIMEOUT)
        .on_connect_ext(|stream: &Guarded<IO>, extensions| {
            extensions.insert(stream.connection());
            extensions.insert(stream.body_fault());
        })
        .h1(map_config(app, |()| AppConfig::default()))
}
