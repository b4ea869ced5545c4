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

use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive};
use actix_service::{ServiceFactory, ServiceFactoryExt as _, boxed, fn_factory, map_config};
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream};
use actix_tls::accept::{TlsError, max_concurrent_tls_connect};
use actix_web::dev::{AppConfig, Server, fn_service};
use actix_web::middleware::from_fn;
use actix_web::{App, web};
use futures_util::TryFutureExt as _;
use guerdon_domain::ports::StoreCapacity;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpSocket;

use super::admission::{Admission, admit_request};
use super::connections::ConnectionLimiter;
use super::counted_stream::CountedStream;
use super::envelope;
use super::framing::{Connection, ErrorRenderer, PARSER_KEEP_ALIVE, StrictStream};
use super::session::{self, ParserStream, SharedStream};
use crate::api::Api;
use crate::endpoints::configure_routes;
use crate::operation::ApiState;

const WORKERS_MIN: usize = 2;
/// The number of blocking threads per worker for work that does not call the store, such as compression. The store's
/// capacity is added, so that requests that wait in the store do not delay others.
const OTHER_BLOCKING_THREADS: usize = 16;
const SHUTDOWN_SECONDS: u64 = 30;
const LISTEN_BACKLOG: u32 = 2_048;
/// The send buffer of a connection in the kernel (Linux doubles it). It is small, so that the progress of a slow reader
/// is visible and many slow readers occupy little memory.
const SEND_BUFFER_BYTES: u32 = 128 << 10;
/// The maximum number of TLS handshakes in progress per worker. It is so large that silent connections, each of which
/// counts for up to five seconds, do not block others.
const HANDSHAKES_MAX: usize = 16_384;
/// The maximum number of connections above its share of the limit that a worker accepts at a time, only to close them.
/// Further connections wait in the kernel's queue, where they need no file descriptor.
const SURPLUS_CONNECTIONS: usize = 64;
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for a client to confirm that a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Some clients offer only the version of HTTP that they use. A handshake without a common protocol fails.
const ALPN_PROTOCOLS: [&[u8]; 2] = [b"http/1.1", b"http/1.0"];

/// An API with an open port. It serves requests while `server` is awaited.
pub struct ListeningServer {
    /// The server. Its handle stops it and gives running requests up to 30 seconds to finish.
    pub server: Server,
    /// The address of the open port, with the real port if 0 was requested.
    pub address: SocketAddr,
    pub connections: ConnectionCount,
}

/// Counts the open connections of a server.
#[derive(Clone)]
pub struct ConnectionCount(Arc<ConnectionLimiter>);

impl ConnectionCount {
    /// The number of open connections.
    pub fn get(&self) -> usize {
        self.0.count_open()
    }
}

/// Opens a port, with TLS if `tls` is given, otherwise with plain HTTP. Fails without `tls` if the
/// service terminates TLS, or if the address cannot be bound.
pub fn listen(
    api: Api,
    address: SocketAddr,
    tls: Option<rustls::ServerConfig>,
) -> std::io::Result<ListeningServer> {
    if tls.is_none() && api.transport.terminates_tls {
        let reason = "the transport is TLS, but there is no TLS configuration";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, reason));
    }
    let workers = available_parallelism().map_or(WORKERS_MIN, NonZeroUsize::get).max(WORKERS_MIN);
    let StoreCapacity { reads, transactions } = api.store.capacity();
    let blocking_threads = reads + transactions + OTHER_BLOCKING_THREADS;
    let connections_per_worker =
        api.connection_limits.total.div_ceil(workers).saturating_add(SURPLUS_CONNECTIONS);
    let connections = ConnectionLimiter::new(api.connection_limits, api.transport.clone());
    let connection_count = ConnectionCount(Arc::clone(&connections));
    let keep_alive = api.keep_alive.saturating_sub(PARSER_KEEP_ALIVE);
    let state = ApiState::new(api);
    let admission = web::Data::new(Admission::new(Arc::clone(&state)));
    let state = web::Data::from(state);
    let (listener, address) = bind_listener(address)?;
    let builder = Server::build()
        .workers(workers)
        .worker_max_blocking_threads(blocking_threads)
        .max_concurrent_connections(connections_per_worker)
        .shutdown_timeout(SHUTDOWN_SECONDS)
        .disable_signals();
    let stop = builder.graceful_shutdown_signal();
    let stop_signal = move || {
        let stop = stop.clone();
        async move { stop.notified().await }
    };
    max_concurrent_tls_connect(HANDSHAKES_MAX);
    let builder = match tls {
        Some(tls) => builder.listen("https", listener, move || {
            let connections = Arc::clone(&connections);
            let admit = fn_service(move |stream| {
                Arc::clone(&connections)
                    .admit_connection(stream)
                    .map_err(TlsError::<Error, DispatchError>::Tls)
            });
            let http = http_service(state.clone(), admission.clone(), stop_signal.clone());
            let wrap_stream = stream_wrapper(error_renderer(&state), keep_alive);
            // Boxed, so that the memory of the handshake is freed before the connection ends.
            let handshake = boxed::factory(admit.and_then(tls_acceptor(tls.clone(), wrap_stream)));
            handshake.and_then(http.map_err(TlsError::Service))
        })?,
        None => builder.listen("http", listener, move || {
            let (wrap_stream, connections) =
                (stream_wrapper(error_renderer(&state), keep_alive), Arc::clone(&connections));
            let plain = fn_service(move |stream| {
                let (wrap_stream, admit) =
                    (wrap_stream.clone(), Arc::clone(&connections).admit_connection(stream));
                async move {
                    let counted = admit.await?;
                    Ok(wrap_stream(counted.connection(), counted.peer_addr(), counted))
                }
            });
            plain.and_then(http_service(state.clone(), admission.clone(), stop_signal.clone()))
        })?,
    };
    Ok(ListeningServer { server: builder.run(), address, connections: connection_count })
}

fn bind_listener(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    let listener = socket.listen(LISTEN_BACKLOG)?.into_std()?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

/// Builds the response to a malformed request head.
fn error_renderer(state: &web::Data<ApiState>) -> ErrorRenderer {
    let state = Arc::clone(state);
    Rc::new(move |framing_error, head| envelope::render_framing_error(&state, framing_error, head))
}

/// Wraps a stream in a `StrictStream`, and pairs it with the address of its client.
fn stream_wrapper<IO: AsyncRead + AsyncWrite + Unpin>(
    render_error: ErrorRenderer,
    keep_alive: Duration,
) -> impl Fn(Rc<Connection>, Option<SocketAddr>, IO) -> (SharedStream<IO>, Option<SocketAddr>) + Clone {
    move |connection, peer, stream| {
        let stream = StrictStream::new(stream, connection, keep_alive, ErrorRenderer::clone(&render_error));
        (Rc::new(RefCell::new(stream)), peer)
    }
}

/// Terminates TLS.
fn tls_acceptor<R>(
    mut tls: rustls::ServerConfig,
    wrap_stream: impl Fn(Rc<Connection>, Option<SocketAddr>, TlsStream<CountedStream>) -> R + Clone,
) -> impl ServiceFactory<
    CountedStream,
    Config = (),
    Response = R,
    Error = TlsError<Error, DispatchError>,
    InitError = (),
> {
    tls.alpn_protocols = ALPN_PROTOCOLS.map(<[u8]>::to_vec).into();
    let mut acceptor = Acceptor::new(tls);
    acceptor.set_handshake_timeout(HANDSHAKE_TIMEOUT);
    acceptor.map_err(TlsError::into_service_error).map(move |stream: TlsStream<CountedStream>| {
        let counted = stream.get_ref().0;
        wrap_stream(counted.connection(), counted.peer_addr(), stream)
    })
}

/// Serves connections. A parser serves the requests of a connection; the `StrictStream` around it enforces the time
/// limits for request heads and between requests.
fn http_service<IO, F>(
    state: web::Data<ApiState>,
    admission: web::Data<Admission>,
    stop_signal: impl Fn() -> F + Clone + 'static,
) -> impl ServiceFactory<
    (SharedStream<IO>, Option<SocketAddr>),
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
        .wrap(from_fn(admit_request))
        .wrap(from_fn(envelope::wrap_request))
        .configure(configure_routes);
    let parser = HttpService::build()
        .graceful_shutdown_signal(stop_signal.clone())
        .keep_alive(KeepAlive::Os)
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(CLOSE_TIMEOUT)
        .on_connect_ext(|parser_stream: &ParserStream<IO>, extensions| {
            let stream = parser_stream.0.borrow();
            extensions.insert(stream.connection());
            extensions.insert(stream.body_failure());
            extensions.insert(stream.client_end());
        })
        .h1(map_config(app, |()| AppConfig::default()));
    fn_factory(move || {
        let (parser, stop_signal) = (parser.new_service(()), stop_signal.clone());
        async move {
            let parser = Rc::new(parser.await?);
            Ok(fn_service(move |(stream, peer)| {
                session::serve_connection(Rc::clone(&parser), stream, peer, stop_signal())
            }))
        }
    })
}
