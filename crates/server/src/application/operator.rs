//! The operator's listener: health, metrics and console, read-only and never on the port of providers.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Server, ServiceRequest, ServiceResponse};
use actix_web::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{Data, ServiceConfig, block, get};
use actix_web::{App, Error, HttpRequest, HttpResponse, HttpServer};
use guerdon_http_api::{Gate, Pulse};
use serde::Serialize;

use super::metrics::Metrics;
use crate::console::{Shown, shown};
use crate::maintenance::Service;
use crate::platform::build_info::{COMMIT, VERSION};

/// The open listener.
pub(super) struct Listening {
    pub(super) server: Server,
    pub(super) address: SocketAddr,
}

/// What readiness depends on.
struct Health {
    gate: Arc<Gate>,
    pulse: Arc<Pulse>,
    metrics: Metrics,
}

#[derive(Serialize)]
struct State {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
}

pub(super) fn listen(
    service: Service,
    gate: Arc<Gate>,
    pulse: Arc<Pulse>,
    metrics: Metrics,
) -> std::io::Result<Listening> {
    let address = service.operator_listen;
    let health = Data::new(Health { gate, pulse, metrics });
    let service = Data::new(service);
    let told = service.clone();
    let app = move || {
        App::new()
            .app_data(health.clone())
            .app_data(service.clone())
            .wrap(from_fn(by_own_name))
            .configure(routes)
            .default_service(get().to(console))
    };
    let server = HttpServer::new(app).workers(1).disable_signals().shutdown_timeout(1).bind(address)?;
    let address = server.addrs().first().copied().unwrap_or(address);
    let _first = told.operator_address.set(address);
    Ok(Listening { server: server.run(), address })
}

fn routes(config: &mut ServiceConfig) {
    config
        .route("/healthz", get().to(alive))
        .route("/readyz", get().to(ready))
        .route("/metrics", get().to(counted))
        .route("/status", get().to(stands));
}

/// A listener on loopback accepts a request only if its host is an address or `localhost`. This prevents DNS rebinding:
/// a page of another site cannot read it in the operator's browser. Health is available under any host name.
async fn by_own_name(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let listen = request.app_data::<Data<Service>>().map(|service| service.operator_listen.ip());
    let host = request.headers().get(HOST).and_then(|value| value.to_str().ok());
    let is_health = matches!(request.path(), "/healthz" | "/readyz");
    if is_health || listen.is_none_or(|address| !address.is_loopback()) || host.is_none_or(is_own_name) {
        return Ok(next.call(request).await?.map_into_boxed_body());
    }
    let told = "this listener is on loopback: use localhost or an address as the host\n";
    Ok(request.into_response(HttpResponse::MisdirectedRequest().body(told)))
}

fn is_own_name(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|parts| !parts.1.ends_with(']')).map_or(host, |parts| parts.0);
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

/// Liveness: reports that the process runs, without a query.
async fn alive() -> HttpResponse {
    let mut response =
        HttpResponse::Ok().json(State { status: "ok", version: Some(VERSION), commit: Some(COMMIT) });
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Readiness: reports whether requests are accepted. They are not while the service stops, or while the database is
/// unavailable or read-only. Maintenance mode does not affect it.
async fn ready(health: Data<Health>) -> HttpResponse {
    if health.gate.draining() {
        answer(StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if !health.pulse.is_fresh() {
        answer(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer")
    } else if !health.pulse.takes_writes() {
        answer(StatusCode::SERVICE_UNAVAILABLE, "the database rejects writes")
    } else {
        answer(StatusCode::OK, "ok")
    }
}

/// Prometheus text.
async fn counted(health: Data<Health>) -> HttpResponse {
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    HttpResponse::build(StatusCode::OK).insert_header((CONTENT_TYPE, text)).body(health.metrics.text())
}

/// The status of the service.
async fn stands(service: Data<Service>) -> HttpResponse {
    let told = block(move || service.status()).await;
    let Ok(Ok(status)) = told else {
        return answer(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer");
    };
    let mut response = HttpResponse::Ok().json(status);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The console, which serves every other path.
async fn console(service: Data<Service>, request: HttpRequest) -> HttpResponse {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = answer(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; allowed: GET, HEAD");
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    let (path, query) = (request.path().to_owned(), request.query_string().to_owned());
    let shown = block(move || shown(&service, &path, &query)).await;
    shown.map_or_else(|_| answer(StatusCode::SERVICE_UNAVAILABLE, "try again"), Shown::into_response)
}

fn answer(code: StatusCode, status: &'static str) -> HttpResponse {
    let mut response = HttpResponse::build(code).json(State { status, version: None, commit: None });
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::is_own_name;

    #[test]
    fn a_local_host_is_an_address_or_localhost() {
        for own in ["localhost", "LocalHost:9090", "127.0.0.1", "127.0.0.1:9090", "[::1]", "[::1]:9090"] {
            assert!(is_own_name(own), "{own}");
        }
        for other in
            ["evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example", ""]
        {
            assert!(!is_own_name(other), "{other}");
        }
    }
}
