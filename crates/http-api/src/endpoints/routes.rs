//! The table of all endpoints (behaviour 10.1), from which the routing is generated.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::HeaderMap;
use actix_web::web::{self, Data, Payload, ServiceConfig};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, guard};
use guerdon_api_types::Fields;
use schemars::{JsonSchema as _, SchemaGenerator};

use super::{companies, corporations, events, occasions, recognitions, users};
use crate::operation::body::parse_input;
use crate::operation::operation_spec::{BodyReader, OperationSpec};
use crate::operation::{
    ApiError, ApiState, Call, OperationDocs, Query, ReadOperation, RenderedResponse, WriteOperation,
    run_read, run_write,
};
use crate::request_info::{Caller, RequestInfo};

/// Every endpoint. If two patterns match a path, the first one is used.
pub static ROUTES: &[Route] = &[
    // Companies
    post::<companies::Create>("/v1/companies"),
    get::<companies::List>("/v1/companies"),
    get::<companies::Get>("/v1/companies/{id}"),
    put::<companies::Update>("/v1/companies/{id}"),
    get::<companies::ListBalances>("/v1/companies/{id}/users/balances"),
    get::<companies::ListOccasions>("/v1/companies/{id}/occasions"),
    put::<companies::UpdateSamlSettings>("/v1/companies/{id}/saml"),
    get::<companies::GetSaml>("/v1/companies/{id}/saml"),
    get::<companies::ListUsers>("/v1/companies/{id}/users"),
    get::<companies::GetReserve>("/v1/companies/{id}/reserve"),
    get::<companies::ListReserveTransactions>("/v1/companies/{id}/reserve/transactions"),
    rate_preview("/v1/companies/{id}/rate_preview"),
    // Corporations
    post::<corporations::Create>("/v1/corporations"),
    get::<corporations::List>("/v1/corporations"),
    get::<corporations::Get>("/v1/corporations/{id}"),
    get::<corporations::ListCompanies>("/v1/corporations/{id}/companies"),
    put::<corporations::Update>("/v1/corporations/{id}"),
    // Occasions
    post::<occasions::Create>("/v1/occasions"),
    get::<occasions::Get>("/v1/occasions/{id}"),
    put::<occasions::Update>("/v1/occasions/{id}"),
    delete::<occasions::Delete>("/v1/occasions/{id}"),
    // Recognitions
    post::<recognitions::Create>("/v1/recognitions"),
    post::<recognitions::DryRun>("/v1/recognitions/dry_run"),
    get::<recognitions::Get>("/v1/recognitions/{id}"),
    // Users
    post::<users::Create>("/v1/users"),
    get::<users::Get>("/v1/users/{id}"),
    put::<users::Update>("/v1/users/{id}"),
    delete::<users::Delete>("/v1/users/{id}"),
    get::<users::GetBalances>("/v1/users/{id}/balances"),
    get::<users::ListTransactions>("/v1/users/{id}/transactions"),
    get::<users::ListRecognitionsReceived>("/v1/users/{id}/recognitions_received"),
    get::<users::ListRecognitionsSent>("/v1/users/{id}/recognitions_sent"),
    // Events
    get_events("/v1/events"),
    post::<events::ReplayMany>("/v1/events/replay"),
    get::<events::Get>("/v1/events/{id}"),
    post::<events::Replay>("/v1/events/{id}/replay"),
];

/// One endpoint.
pub struct Route {
    /// The method; GET includes HEAD.
    pub method: &'static str,
    /// The path, with `{id}` for its variable part.
    pub pattern: &'static str,
    /// Whether only a provider designated to manage all domain resources may call it (behaviour 9.3).
    pub needs_designation: bool,
    /// Whether it is an addition of this service (behaviour 25).
    pub is_extension: bool,
    /// Generates the description of the operation.
    pub(crate) describe: fn(&mut SchemaGenerator) -> OperationSpec,
    handler: Handler,
}

type Handler = fn(Arc<ApiState>, Call, HttpRequest, Payload) -> ResponseFuture;
type ResponseFuture = Pin<Box<dyn Future<Output = Result<RenderedResponse, ApiError>>>>;

const fn get<R: ReadOperation>(pattern: &'static str) -> Route {
    read_route::<R>(pattern, |state, call, _request, _payload| Box::pin(run_read::<R>(state, call)))
}

const fn get_events(pattern: &'static str) -> Route {
    read_route::<events::List>(pattern, |state, call, request, _payload| {
        Box::pin(events::run_long_poll(state, call, request))
    })
}

const fn rate_preview(pattern: &'static str) -> Route {
    let route = read_route::<companies::PreviewRate>(pattern, |state, call, request, payload| {
        Box::pin(companies::run_rate_preview(state, call, request, payload))
    });
    Route {
        method: "POST",
        describe: |generator| {
            let parameters = Fields::collect_parameters(companies::read_proposed_rate);
            let check_body = |body: &[u8]| check_body(body, companies::read_proposed_rate);
            operation_spec::<companies::PreviewRate>(generator, Some(BodyReader { parameters, check_body }))
        },
        ..route
    }
}

/// A route that changes nothing: for GET, without a body.
const fn read_route<D: OperationDocs>(pattern: &'static str, handler: Handler) -> Route {
    Route {
        method: "GET",
        pattern,
        needs_designation: false,
        is_extension: D::IS_EXTENSION,
        describe: |generator| operation_spec::<D>(generator, None),
        handler,
    }
}

const fn post<W: WriteOperation>(pattern: &'static str) -> Route {
    let describe = |generator: &mut SchemaGenerator| OperationSpec {
        accepts_idempotency_key: !W::IS_DRY_RUN,
        ..write_operation_spec::<W>(generator)
    };
    Route { describe, ..write_route::<W>("POST", pattern) }
}

const fn put<W: WriteOperation>(pattern: &'static str) -> Route {
    write_route::<W>("PUT", pattern)
}

const fn delete<W: WriteOperation>(pattern: &'static str) -> Route {
    write_route::<W>("DELETE", pattern)
}

const fn write_route<W: WriteOperation>(method: &'static str, pattern: &'static str) -> Route {
    Route {
        method,
        pattern,
        needs_designation: W::NEEDS_DESIGNATION,
        is_extension: W::IS_EXTENSION,
        describe: write_operation_spec::<W>,
        handler: |state, call, request, payload| Box::pin(run_write::<W>(state, call, request, payload)),
    }
}

fn write_operation_spec<W: WriteOperation>(generator: &mut SchemaGenerator) -> OperationSpec {
    let reader = W::HAS_BODY.then(|| BodyReader {
        parameters: Fields::collect_parameters(W::parse_input),
        check_body: |body| check_body(body, W::parse_input),
    });
    operation_spec::<W>(generator, reader)
}

fn operation_spec<D: OperationDocs>(
    generator: &mut SchemaGenerator,
    body: Option<BodyReader>,
) -> OperationSpec {
    OperationSpec {
        name: D::NAME,
        summary: D::SUMMARY,
        description: D::DESCRIPTION,
        accepts_domain: D::ACCEPTS_DOMAIN,
        success_status: D::SUCCESS_STATUS,
        read_query: D::READ_QUERY,
        query_parameters: Query::collect_parameters(D::READ_QUERY),
        body,
        accepts_idempotency_key: false,
        response_schema: generator.subschema_for::<D::View>(),
        documented_by: D::DOCUMENTED_BY.map_or_else(|| D::View::schema_name(), Cow::Borrowed),
        field_docs: D::FIELD_DOCS,
    }
}

/// Parses a body with `parse`. Fails with the error that a request with this body gets.
fn check_body<I>(body: &[u8], parse: fn(&mut Fields<'_>) -> Option<I>) -> Result<(), ApiError> {
    parse_input(&HeaderMap::new(), Some(body), parse).map(drop)
}

/// The tags of the endpoints with the nouns for their objects and their descriptions, in the order of the
/// documentation.
pub(crate) const TAGS: &[(&str, &str, &str)] = &[
    ("Companies", "company", "Companies, their reserve, and single sign-on."),
    ("Corporations", "corporation", "Groups of companies."),
    ("Occasions", "occasion", "The reasons for recognitions."),
    ("Recognitions", "recognition", "Points and a message, from a user or a company to users."),
    ("Users", "user", "Users, their wallets and transactions."),
    ("Events", "event", "The events for your receiver, and their deliveries."),
    ("Webhooks", "request", "The requests that your receiver gets."),
];

/// The tag of a path: the segment after its version.
pub(crate) fn tag_of(pattern: &str) -> &'static str {
    find_tag(pattern).0
}

/// The noun for the object that the id in a path identifies.
pub(crate) fn noun_of(pattern: &str) -> &'static str {
    find_tag(pattern).1
}

fn find_tag(pattern: &str) -> (&'static str, &'static str, &'static str) {
    let segment = pattern.split('/').nth(2).unwrap_or_default();
    let found = TAGS.iter().copied().find(|(name, ..)| name.eq_ignore_ascii_case(segment));
    found.unwrap_or(("", "object", ""))
}

/// Configures the routing of actix-web from the table: a resource per pattern, 405 for its other methods, 404 for other
/// paths.
pub(crate) fn configure_routes(config: &mut ServiceConfig) {
    let mut patterns: Vec<&'static str> = Vec::new();
    for route in ROUTES {
        if !patterns.contains(&route.pattern) {
            patterns.push(route.pattern);
        }
    }
    for pattern in patterns {
        let allowed = allowed_methods(pattern);
        let mut resource = web::resource(pattern);
        for route in ROUTES.iter().filter(|route| route.pattern == pattern) {
            resource = resource.route(to_actix_route(route));
        }
        config.service(resource.default_service(web::to(move |request: HttpRequest| {
            let response = ApiError::method_not_allowed(&allowed)
                .log_and_respond(&RequestInfo::from_request(&request).id);
            async move { response }
        })));
    }
    config.default_service(web::to(|request: HttpRequest| async move {
        ApiError::unknown_path().log_and_respond(&RequestInfo::from_request(&request).id)
    }));
}

fn to_actix_route(route: &'static Route) -> actix_web::Route {
    let handler = move |state: Data<ApiState>, request: HttpRequest, payload: Payload| {
        serve_request(route, state.into_inner(), request, payload)
    };
    match route.method {
        "GET" => web::route().guard(guard::Any(guard::Get()).or(guard::Head())).to(handler),
        method => {
            let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
            web::route().guard(guard::Method(method)).to(handler)
        }
    }
}

async fn serve_request(
    route: &'static Route,
    state: Arc<ApiState>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let request_id = RequestInfo::from_request(&request).id;
    let caller = request.extensions().get::<Caller>().cloned();
    // Only an error in the middleware can cause this.
    let Some(caller) = caller else {
        return ApiError::internal("a request without credentials reached an endpoint")
            .log_and_respond(&request_id);
    };
    let call = Call::new(route.method, &request, &caller, &state.api);
    let path_id = call.path_uuid();
    match (route.handler)(Arc::clone(&state), call, request, payload).await {
        Ok(response) => response.into_http_response(),
        Err(error) => {
            state.log_store_failure(&error, &request_id);
            error.with_path_id(path_id).log_and_respond(&request_id)
        }
    }
}

/// The methods of a pattern, as the `Allow` header lists them.
fn allowed_methods(pattern: &str) -> String {
    let methods = ROUTES.iter().filter(|route| route.pattern == pattern).map(|route| match route.method {
        "GET" => "GET, HEAD",
        method => method,
    });
    methods.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_allows_its_methods_and_head_with_get() {
        assert_eq!(allowed_methods("/v1/users"), "POST");
        assert_eq!(allowed_methods("/v1/users/{id}"), "GET, HEAD, PUT, DELETE");
    }

    #[test]
    fn the_documentation_lists_all_routes() {
        let page = include_str!("../../../../docs/specified-behaviour.md");
        let (_, after_heading) = page.split_once("**10.1 All of them.**").unwrap();
        let (table, _) = after_heading.split_once("\n## ").unwrap();
        let documented: Vec<String> = table
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(endpoint, _)| endpoint.replace(":id_or_domain", "{id}").replace(":id", "{id}"))
            .collect();
        let routed: Vec<String> =
            ROUTES.iter().map(|route| format!("{} {}", route.method, route.pattern)).collect();
        assert_eq!(documented, routed);
    }

    #[test]
    fn every_route_is_listed_once() {
        for (index, route) in ROUTES.iter().enumerate() {
            let is_same_route =
                |other: &&Route| other.method == route.method && other.pattern == route.pattern;
            assert_eq!(
                ROUTES.iter().position(|other| is_same_route(&other)),
                Some(index),
                "{} {}",
                route.method,
                route.pattern
            );
        }
    }
}
