//! Opens the port and builds the server: connections, TLS, HTTP parser, middleware and routes.

use std::cell::RefCell;
use std::future::Future;
use std::io::Error;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_service::{ServiceFactory, ServiceFactoryExt as _, boxed, fn_factory, map_config};
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream};
use actix_tls::accept::{TlsError, max_concurrent_tls_connect};
use actix_web::dev::{AppConfig, Server, fn_service};
use actix_web::middleware::from_fn;
use actix_web::{App, web};
use futures_util::TryFutureExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpSocket;

use super::admission::{Admission, admit};
use super::connections::Connections;
use super::envelope;
use super::framing::{Connection, Guarded, Refuse};
use super::placed::Placed;
use super::session::{self, Lease, Shared};
use crate::api::{Api, Transport};
use crate::endpoints::configure;
use crate::operation::state::State;

const WORKERS_MIN: usize = 2;
/// The total of all workers. It must be large enough that many requests can wait for the same commit of the store.
const BLOCKING_THREADS_MIN: usize = 64;
const BLOCKING_THREADS_PER_WORKER_MIN: usize = 32;
const SHUTDOWN_SECONDS: u64 = 30;
const BACKLOG: u32 = 2_048;
/// The send buffer of a connection in the kernel (Linux doubles it). It is small, so that the progress of a slow reader is
/// visible and many slow readers occupy little memory.
const SEND_BUFFER_BYTES: u32 = 128 << 10;
/// The most TLS handshakes in progress per worker. It is so large that silent connections, which may occupy it for five seconds
/// each, do not keep others out.
const HANDSHAKES_MAX: usize = 16_384;
/// The number of connections above the limit that a worker accepts at a time, to close them. Further ones wait in the
/// kernel's queue and take no file descriptor.
const SURPLUS_CONNECTIONS: usize = 64;
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for a client to confirm that a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a connection keeps its parser after a response.
const PARSER_KEEP_ALIVE: Duration = Duration::from_secs(1);
const PROTOCOL: &[u8] = b"http/1.1";

/// An API with an open port. It serves requests while `server` is awaited.
pub struct Listening {
    /// The server. Its handle stops it and gives running requests up to 30 seconds to finish.
    pub server: Server,
    /// The address of the open port, with the real port if 0 was requested.
    pub address: SocketAddr,
}

/// Opens a port, with TLS if `tls` is given. Plain HTTP requires [`Transport::Proxy`]; fails for any other transport, or if the
/// address cannot be bound.
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
    let connections_per_worker = api.connections.in_all.div_ceil(workers).saturating_add(SURPLUS_CONNECTIONS);
    let connections = Connections::new(api.connections, api.transport.clone());
    let keep_alive = api.keep_alive.saturating_sub(PARSER_KEEP_ALIVE);
    let state = State::new(api);
    let admission = web::Data::new(Admission::new(Arc::clone(&state)));
    let state = web::Data::from(state);
    let (listener, address) = bind(address)?;
    let builder = Server::build()
        .workers(workers)
        .worker_max_blocking_threads(threads)
        .max_concurrent_connections(connections_per_worker)
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
            let connections = Arc::clone(&connections);
            let place = fn_service(move |stream| {
                Arc::clone(&connections).place(stream).map_err(TlsError::<Error, DispatchError>::Tls)
            });
            let http = http(state.clone(), admission.clone(), stopping.clone());
            let guard = guard(refuse(&state), keep_alive);
            // Boxed, so that the memory of the handshake is freed before the connection ends.
            let handshake = boxed::factory(place.and_then(accept(tls.clone(), guard)));
            handshake.and_then(http.map_err(TlsError::Service))
        })?,
        None => builder.listen("http", listener, move || {
            let (guard, connections) = (guard(refuse(&state), keep_alive), Arc::clone(&connections));
            let plain = fn_service(move |stream| {
                let (guard, place) = (guard.clone(), Arc::clone(&connections).place(stream));
                async move {
                    let placed = place.await?;
                    Ok(guard(placed.connection(), placed.peer(), placed))
                }
            });
            plain.and_then(http(state.clone(), admission.clone(), stopping.clone()))
        })?,
    };
    Ok(Listening { server: builder.run(), address })
}

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?.into_std()?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Builds the response to a malformed request head.
fn refuse(state: &web::Data<State>) -> Refuse {
    let state = Arc::clone(state);
    Rc::new(move |refusal, is_head| envelope::refuse(&state, refusal, is_head))
}

/// Wraps a stream in the strict reader, and pairs it with the address of its client.
fn guard<IO: AsyncRead + AsyncWrite + Unpin>(
    refuse: Refuse,
    keep_alive: Duration,
) -> impl Fn(Rc<Connection>, Option<SocketAddr>, IO) -> (Shared<IO>, Option<SocketAddr>) + Clone {
    move |connection, peer, stream| {
        let stream = Guarded::new(stream, connection, keep_alive, Refuse::clone(&refuse));
        (Rc::new(RefCell::new(stream)), peer)
    }
}

/// Terminates TLS.
fn accept<R>(
    mut tls: rustls::ServerConfig,
    guard: impl Fn(Rc<Connection>, Option<SocketAddr>, TlsStream<Placed>) -> R + Clone,
) -> impl ServiceFactory<Placed, Config = (), Response = R, Error = TlsError<Error, DispatchError>, InitError = ()>
{
    tls.alpn_protocols.insert(0, PROTOCOL.to_vec());
    let mut acceptor = Acceptor::new(tls);
    acceptor.set_handshake_timeout(HANDSHAKE_TIMEOUT);
    acceptor.map_err(TlsError::into_service_error).map(move |stream: TlsStream<Placed>| {
        let placed = stream.get_ref().0;
        guard(placed.connection(), placed.peer(), stream)
    })
}

/// Serves connections.
fn http<IO, F>(
    state: web::Data<State>,
    admission: web::Data<Admission>,
    stopping: impl Fn() -> F + Clone + 'static,
) -> impl ServiceFactory<
    (Shared<IO>, Option<SocketAddr>),
    Config = (),
    Response = (),
    Error = DispatchError,
    InitError = (),
>
where
    IO: AsyncRead + AsyncWrite + Unpin + 'static,
    F: Future<Output = ()> + 'static,
{
    let parser = parser(state, admission, stopping.clone());
    fn_factory(move || {
        let (parser, stopping) = (parser.new_service(()), stopping.clone());
        async move {
            let parser = Rc::new(parser.await?);
            Ok(fn_service(move |(stream, peer)| session::serve(Rc::clone(&parser), stream, peer, stopping())))
        }
    })
}

/// Parses and serves the requests of a connection. The strict stream enforces the time limit for request heads.
fn parser<IO, F>(
    state: web::Data<State>,
    admission: web::Data<Admission>,
    stopping: impl Fn() -> F + 'static,
) -> impl ServiceFactory<
    (Lease<IO>, Option<SocketAddr>),
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
        .keep_alive(PARSER_KEEP_ALIVE)
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(CLOSE_TIMEOUT)
        .on_connect_ext(|lease: &Lease<IO>, extensions| {
            let stream = lease.stream().borrow();
            extensions.insert(stream.connection());
            extensions.insert(stream.body_fault());
        })
        .h1(map_config(app, |()| AppConfig::default()))
}
