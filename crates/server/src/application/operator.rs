//! The operator's listener for health, metrics and the console. It is read-only and separate from the providers' port.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Server, ServiceRequest, ServiceResponse};
use actix_web::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{Bytes, Data, PayloadConfig, ServiceConfig, block, get, to};
use actix_web::{App, Error, HttpRequest, HttpResponse, HttpServer};
use guerdon_console::SEARCH_PATH;
use guerdon_http_api::{DatabaseHealth, ServiceState};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ObservedState;
use super::metrics::Metrics;
use crate::console::{ConsolePage, render_page, render_search};
use crate::maintenance::StatusSources;
use crate::platform::build_info::{COMMIT, VERSION};

/// The maximum size of a search in bytes: an email address, percent-encoded.
const SEARCH_BODY_BYTES_MAX: usize = 4_096;

/// The maximum number of console pages and status queries that read the database at the same time. The limit leaves
/// connections for background tasks even if all of these reads are slow.
const CONCURRENT_READS_MAX: usize = 2;
/// How long a request waits until it may read. `guerdon status` waits five seconds for the response.
const READ_WAIT_MAX: Duration = Duration::from_secs(4);

/// The open listener.
pub(super) struct OperatorServer {
    pub(super) server: Server,
    pub(super) address: SocketAddr,
}

/// The state that determines readiness.
struct HealthSources {
    service_state: Arc<ServiceState>,
    database_health: Arc<DatabaseHealth>,
    metrics: Metrics,
}

#[derive(Serialize)]
struct StatusBody {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
}

pub(super) fn start_listener(
    service: StatusSources,
    observed: &ObservedState,
    metrics: Metrics,
) -> std::io::Result<OperatorServer> {
    let address = service.operator_listen;
    let health = Data::new(HealthSources {
        service_state: Arc::clone(&observed.service_state),
        database_health: Arc::clone(&observed.database_health),
        metrics,
    });
    let service = Data::new(service);
    let shared_service = service.clone();
    let reads = Data::new(Semaphore::new(CONCURRENT_READS_MAX));
    let app = move || {
        App::new()
            .app_data(health.clone())
            .app_data(service.clone())
            .app_data(reads.clone())
            .app_data(PayloadConfig::new(SEARCH_BODY_BYTES_MAX))
            .wrap(from_fn(reject_foreign_pages))
            .configure(configure_routes)
            .default_service(to(get_console_page))
    };
    let server = HttpServer::new(app).workers(1).disable_signals().shutdown_timeout(1).bind(address)?;
    let address = server.addrs().first().copied().unwrap_or(address);
    let _first = shared_service.operator_address.set(address);
    Ok(OperatorServer { server: server.run(), address })
}

fn configure_routes(config: &mut ServiceConfig) {
    config
        .route("/healthz", get().to(get_liveness))
        .route("/readyz", get().to(get_readiness))
        .route("/metrics", get().to(get_metrics))
        .route("/status", get().to(get_status));
}

/// Rejects requests that a page of another site triggers in the operator's browser. Requests for embedded content are
/// rejected, so that such a page cannot start slow reads. A listener on loopback also rejects requests whose host is
/// neither an address nor `localhost`, because with DNS rebinding a page could read the console. Links to the console
/// work. Health checks are never rejected.
async fn reject_foreign_pages(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let listen = request.app_data::<Data<StatusSources>>().map(|service| service.operator_listen.ip());
    let host = request.headers().get(HOST).and_then(|value| value.to_str().ok());
    let is_health = matches!(request.path(), "/healthz" | "/readyz");
    if !is_health && is_embedded(request.headers()) {
        let explanation = "a page of another site cannot embed this\n";
        return Ok(request.into_response(HttpResponse::Forbidden().body(explanation)));
    }
    if is_health || listen.is_none_or(|address| !address.is_loopback()) || host.is_none_or(is_local_host) {
        return Ok(next.call(request).await?.map_into_boxed_body());
    }
    let explanation = "this listener is on loopback: use localhost or an address as the host\n";
    Ok(request.into_response(HttpResponse::MisdirectedRequest().body(explanation)))
}

/// Whether a page of another origin embeds or fetches the target of a request, rather than linking to it. Browsers send
/// these headers to HTTPS and to addresses of the same machine.
fn is_embedded(headers: &HeaderMap) -> bool {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    matches!(value("sec-fetch-site"), Some("cross-site" | "same-site"))
        && value("sec-fetch-dest") != Some("document")
}

fn is_local_host(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|parts| !parts.1.ends_with(']')).map_or(host, |parts| parts.0);
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

/// Liveness: reports that the process runs, without a query.
async fn get_liveness() -> HttpResponse {
    json_response(StatusCode::OK, &StatusBody { status: "ok", version: Some(VERSION), commit: Some(COMMIT) })
}

/// Readiness: reports whether the service accepts requests. The service is not ready while it is stopping, or while the
/// database is unavailable or read-only. Maintenance mode does not affect readiness.
async fn get_readiness(health: Data<HealthSources>) -> HttpResponse {
    if health.service_state.is_draining() {
        status_response(StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if !health.database_health.is_responsive() {
        status_response(StatusCode::SERVICE_UNAVAILABLE, "the database is not available")
    } else if !health.database_health.accepts_writes() {
        status_response(StatusCode::SERVICE_UNAVAILABLE, "the database rejects writes")
    } else {
        status_response(StatusCode::OK, "ok")
    }
}

/// Prometheus text.
async fn get_metrics(health: Data<HealthSources>) -> HttpResponse {
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    HttpResponse::build(StatusCode::OK).insert_header((CONTENT_TYPE, text)).body(health.metrics.render_text())
}

/// The status of the service.
async fn get_status(service: Data<StatusSources>, reads: Data<Semaphore>) -> HttpResponse {
    match run_read(reads, move || service.read_status()).await {
        Some(Ok(status)) => json_response(StatusCode::OK, &status),
        Some(Err(_)) => status_response(StatusCode::SERVICE_UNAVAILABLE, "the database is not available"),
        None => status_response(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy with other status queries and console pages",
        ),
    }
}

/// The console, which serves every other path.
async fn get_console_page(
    service: Data<StatusSources>,
    reads: Data<Semaphore>,
    request: HttpRequest,
    body: Bytes,
) -> HttpResponse {
    if request.path() == SEARCH_PATH && *request.method() == Method::POST {
        return respond_with_page(reads, move || render_search(&service, &body)).await;
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused =
            status_response(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; allowed: GET, HEAD");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let (path, query) = (request.path().to_owned(), request.query_string().to_owned());
    respond_with_page(reads, move || render_page(&service, &path, &query)).await
}

async fn respond_with_page(
    reads: Data<Semaphore>,
    render: impl FnOnce() -> ConsolePage + Send + 'static,
) -> HttpResponse {
    run_read(reads, render).await.map_or_else(
        || status_response(StatusCode::SERVICE_UNAVAILABLE, "try again"),
        ConsolePage::into_response,
    )
}

/// Runs a read of the database on a blocking thread. A read continues after its client has disconnected, and counts as
/// running until it ends. Returns `None` if too many others run.
async fn run_read<T: Send + 'static>(
    reads: Data<Semaphore>,
    read: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let permit = timeout(READ_WAIT_MAX, reads.into_inner().acquire_owned()).await.ok()?.ok()?;
    let reading = block(move || {
        let _permit = permit; // until the read has ended
        read()
    });
    reading.await.ok()
}

fn status_response(code: StatusCode, status: &'static str) -> HttpResponse {
    json_response(code, &StatusBody { status, version: None, commit: None })
}

fn json_response(code: StatusCode, body: &impl Serialize) -> HttpResponse {
    HttpResponse::build(code).insert_header((CACHE_CONTROL, "no-store")).json(body)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

    use super::{is_embedded, is_local_host};

    #[test]
    fn a_page_of_another_origin_may_link_to_the_console_but_not_embed_it() {
        let check = |site: &'static str, destination: &'static str, expected: bool| {
            let fields = [("sec-fetch-site", site), ("sec-fetch-dest", destination)];
            let headers: HeaderMap = fields
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .into_iter()
                .collect();
            assert_eq!(is_embedded(&headers), expected, "{site} {destination}");
        };
        check("cross-site", "image", true);
        check("cross-site", "iframe", true);
        check("same-site", "empty", true);
        check("cross-site", "document", false);
        check("same-origin", "style", false);
        check("none", "document", false);
        assert!(!is_embedded(&HeaderMap::new()));
    }

    #[test]
    fn a_local_host_is_an_address_or_localhost() {
        for own in ["localhost", "LocalHost:9090", "127.0.0.1", "127.0.0.1:9090", "[::1]", "[::1]:9090"] {
            assert!(is_local_host(own), "{own}");
        }
        for other in
            ["evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example", ""]
        {
            assert!(!is_local_host(other), "{other}");
        }
    }
}
