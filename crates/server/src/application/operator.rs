//! The operator's listener: health and metrics, never on the provider port; nothing here changes anything.

use std::net::SocketAddr;
use std::sync::Arc;

use actix_web::dev::Server;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use actix_web::web::{Data, ServiceConfig, block, get};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use guerdon_http_api::{Gate, Pulse};
use serde::Serialize;

use super::metrics::Metrics;
use crate::build_info::{COMMIT, VERSION};
use crate::console::{Shown, shown};
use crate::status::Service;

/// The open listener.
pub(super) struct Listening {
    pub(super) server: Server,
    pub(super) address: SocketAddr,
}

/// What readiness hangs on.
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

/// The process answers; asks nobody.
async fn alive() -> HttpResponse {
    let mut response =
        HttpResponse::Ok().json(State { status: "ok", version: Some(VERSION), commit: Some(COMMIT) });
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Requests are welcome: not while the service ends or the database is away, but also in maintenance.
async fn ready(health: Data<Health>) -> HttpResponse {
    if health.gate.draining() {
        answer(StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if !health.pulse.is_fresh() {
        answer(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer")
    } else {
        answer(StatusCode::OK, "ok")
    }
}

/// Prometheus text.
async fn counted(health: Data<Health>) -> HttpResponse {
    let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    HttpResponse::build(StatusCode::OK).insert_header((CONTENT_TYPE, text)).body(health.metrics.text())
}

/// How the service stands.
async fn stands(service: Data<Service>) -> HttpResponse {
    let told = block(move || service.status()).await;
    let Ok(Ok(status)) = told else {
        return answer(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer");
    };
    let mut response = HttpResponse::Ok().json(status);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The console, which has an answer for every path.
async fn console(service: Data<Service>, request: HttpRequest) -> HttpResponse {
    let (path, query) = (request.path().to_owned(), request.query_string().to_owned());
    let shown = block(move || shown(&service, &path, &query)).await;
    shown.map_or_else(|_| answer(StatusCode::SERVICE_UNAVAILABLE, "try again"), Shown::into_response)
}

fn answer(code: StatusCode, status: &'static str) -> HttpResponse {
    let mut response = HttpResponse::build(code).json(State { status, version: None, commit: None });
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
