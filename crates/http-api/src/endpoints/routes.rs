//! The whole URL space (behaviour 10.1). The routing is made from this table and nothing else.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::web::{self, Data, Payload, ServiceConfig};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, guard};
use schemars::{JsonSchema as _, SchemaGenerator};

use super::{companies, corporations, events, occasions, recognitions, users};
use crate::arrival::{Arrival, Caller};
use crate::description::Told;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::state::State;
use crate::operation::{Described, Question, Read, Write, run_question, run_read, run_write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::parameter::Parameter;

/// Every endpoint. Where two patterns fit a path, the first does.
pub static ROUTES: &[Route] = &[
    // Companies
    post::<companies::Create>("/v1/companies"),
    get::<companies::List>("/v1/companies"),
    get::<companies::Get>("/v1/companies/{id}"),
    put::<companies::Update>("/v1/companies/{id}"),
    get::<companies::Balances>("/v1/companies/{id}/users/balances"),
    get::<companies::Occasions>("/v1/companies/{id}/occasions"),
    put::<companies::UpdateSamlSettings>("/v1/companies/{id}/saml"),
    get::<companies::GetSaml>("/v1/companies/{id}/saml"),
    get::<companies::Users>("/v1/companies/{id}/users"),
    get::<companies::Reserve>("/v1/companies/{id}/reserve"),
    get::<companies::ReserveTransactions>("/v1/companies/{id}/reserve/transactions"),
    ask::<companies::RatePreview>("/v1/companies/{id}/rate_preview"),
    // Corporations
    post::<corporations::Create>("/v1/corporations"),
    get::<corporations::List>("/v1/corporations"),
    get::<corporations::Get>("/v1/corporations/{id}"),
    get::<corporations::Companies>("/v1/corporations/{id}/companies"),
    put::<corporations::Update>("/v1/corporations/{id}"),
    // Occasions
    post::<occasions::Create>("/v1/occasions"),
    get::<occasions::Get>("/v1/occasions/{id}"),
    put::<occasions::Update>("/v1/occasions/{id}"),
    delete::<occasions::Delete>("/v1/occasions/{id}"),
    // Recognitions
    post::<recognitions::Create>("/v1/recognitions"),
    post::<recognitions::DryRun>("/v1/recognitions/dry_run"),
    // Users
    post::<users::Create>("/v1/users"),
    get::<users::Get>("/v1/users/{id}"),
    put::<users::Update>("/v1/users/{id}"),
    delete::<users::Delete>("/v1/users/{id}"),
    get::<users::Balances>("/v1/users/{id}/balances"),
    get::<users::Transactions>("/v1/users/{id}/transactions"),
    get::<users::Received>("/v1/users/{id}/recognitions_received"),
    get::<users::Sent>("/v1/users/{id}/recognitions_sent"),
    // Events
    get::<events::List>("/v1/events"),
    post::<events::ReplayMany>("/v1/events/replay"),
    get::<events::Get>("/v1/events/{id}"),
    post::<events::Replay>("/v1/events/{id}/replay"),
];

/// One endpoint.
pub struct Route {
    /// The method; GET answers HEAD too.
    pub method: &'static str,
    /// The path, with `{id}` for its variable part.
    pub pattern: &'static str,
    /// Whether only a provider designated to manage all domain resources may call it (behaviour 9.3).
    pub needs_designation: bool,
    /// Whether it is an addition of this service (behaviour 25).
    pub is_extension: bool,
    /// Its description.
    pub(crate) tell: fn(&mut SchemaGenerator) -> Told,
    handle: Handle,
}

type Handle = fn(Arc<State>, Call, HttpRequest, Payload) -> Handled;
type Handled = Pin<Box<dyn Future<Output = Result<Answer, ApiError>>>>;

const fn get<R: Read>(pattern: &'static str) -> Route {
    Route {
        method: "GET",
        pattern,
        needs_designation: false,
        is_extension: R::IS_EXTENSION,
        tell: |generator| told::<R>(generator, None),
        handle: |state, call, _request, _payload| Box::pin(run_read::<R>(state, call)),
    }
}

const fn ask<Q: Question>(pattern: &'static str) -> Route {
    Route {
        method: "POST",
        pattern,
        needs_designation: false,
        is_extension: Q::IS_EXTENSION,
        tell: |generator| told::<Q>(generator, Some(Fields::parameters_of(Q::command))),
        handle: |state, call, request, payload| Box::pin(run_question::<Q>(state, call, request, payload)),
    }
}

const fn post<W: Write>(pattern: &'static str) -> Route {
    let tell =
        |generator: &mut SchemaGenerator| Told { takes_key: !W::IS_DRY_RUN, ..told_of_write::<W>(generator) };
    Route { tell, ..write::<W>("POST", pattern) }
}

const fn put<W: Write>(pattern: &'static str) -> Route {
    write::<W>("PUT", pattern)
}

const fn delete<W: Write>(pattern: &'static str) -> Route {
    write::<W>("DELETE", pattern)
}

const fn write<W: Write>(method: &'static str, pattern: &'static str) -> Route {
    Route {
        method,
        pattern,
        needs_designation: W::NEEDS_DESIGNATION,
        is_extension: W::IS_EXTENSION,
        tell: told_of_write::<W>,
        handle: |state, call, request, payload| Box::pin(run_write::<W>(state, call, request, payload)),
    }
}

fn told_of_write<W: Write>(generator: &mut SchemaGenerator) -> Told {
    told::<W>(generator, W::HAS_BODY.then(|| Fields::parameters_of(W::command)))
}

fn told<D: Described>(generator: &mut SchemaGenerator, body: Option<Vec<Parameter>>) -> Told {
    Told {
        name: D::NAME,
        summary: D::SUMMARY,
        text: D::TEXT,
        takes_domain: D::TAKES_DOMAIN,
        status: D::STATUS,
        query: D::query(),
        body,
        takes_key: false,
        view: generator.subschema_for::<D::View>(),
        documented_by: D::DOCUMENTED_BY.map_or_else(|| D::View::schema_name(), Cow::Borrowed),
        field_docs: D::FIELD_DOCS,
    }
}

/// What the endpoints are about, in their order.
pub(crate) const TAGS: &[(&str, &str)] = &[
    ("Companies", "Companies, their reserve, and single sign-on."),
    ("Corporations", "Groups of companies."),
    ("Occasions", "The reasons for recognitions."),
    ("Recognitions", "Points and a message, from a user or a company to users."),
    ("Users", "Users, their wallets and transactions."),
    ("Events", "The events for your receiver, and their deliveries."),
    ("Webhooks", "The requests that your receiver gets."),
];

/// The tag of a path: what stands behind its version.
pub(crate) fn tag_of(pattern: &str) -> &'static str {
    let segment = pattern.split('/').nth(2).unwrap_or_default();
    TAGS.iter().map(|(name, _)| *name).find(|name| name.eq_ignore_ascii_case(segment)).unwrap_or_default()
}

/// What the id in a path names.
pub(crate) fn noun_of(pattern: &str) -> &'static str {
    match tag_of(pattern) {
        "Companies" => "company",
        "Corporations" => "corporation",
        "Occasions" => "occasion",
        "Users" => "user",
        "Events" => "event",
        _ => "object",
    }
}

/// Makes actix's routing from the table: a resource per pattern, 405 for its other methods, 404 for the rest.
pub(crate) fn configure(config: &mut ServiceConfig) {
    let mut patterns: Vec<&'static str> = Vec::new();
    for route in ROUTES {
        if !patterns.contains(&route.pattern) {
            patterns.push(route.pattern);
        }
    }
    for pattern in patterns {
        let allowed = allowed(pattern);
        let mut resource = web::resource(pattern);
        for route in ROUTES.iter().filter(|route| route.pattern == pattern) {
            resource = resource.route(serve(route));
        }
        config.service(resource.default_service(web::to(move |request: HttpRequest| {
            let refusal = ApiError::method_not_allowed(&allowed).respond(&Arrival::of(&request).id);
            async move { refusal }
        })));
    }
    config.default_service(web::to(|request: HttpRequest| async move {
        ApiError::not_found("unknown path; GET /docs lists the API").respond(&Arrival::of(&request).id)
    }));
}

fn serve(route: &'static Route) -> actix_web::Route {
    let handler = move |state: Data<State>, request: HttpRequest, payload: Payload| {
        answer(route, state.into_inner(), request, payload)
    };
    match route.method {
        "GET" => web::route().guard(guard::Any(guard::Get()).or(guard::Head())).to(handler),
        method => web::route().guard(guard::Method(method_of(method))).to(handler),
    }
}

fn method_of(name: &'static str) -> Method {
    match name {
        "POST" => Method::POST,
        "PUT" => Method::PUT,
        "DELETE" => Method::DELETE,
        _ => Method::GET,
    }
}

async fn answer(
    route: &'static Route,
    state: Arc<State>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let request_id = Arrival::of(&request).id;
    let caller = request.extensions().get::<Caller>().cloned();
    // Without its caller a request was never admitted, which only a wrong wiring can bring about.
    let Some(caller) = caller else {
        return ApiError::internal("a request passed without credentials").respond(&request_id);
    };
    let call = Call::new(route.method, &request, &caller, &state.api);
    match (route.handle)(Arc::clone(&state), call, request, payload).await {
        Ok(answer) => answer.respond(),
        Err(refusal) => {
            state.note_failure(&refusal, &request_id);
            refusal.respond(&request_id)
        }
    }
}

/// The methods of a pattern, as the `Allow` header lists them.
fn allowed(pattern: &str) -> String {
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
    fn a_pattern_allows_its_methods_and_head_beside_get() {
        assert_eq!(allowed("/v1/users"), "POST");
        assert_eq!(allowed("/v1/users/{id}"), "GET, HEAD, PUT, DELETE");
    }

    #[test]
    fn the_page_lists_the_table() {
        let page = include_str!("../../../../docs/specified-behaviour.md");
        let (_, from_there) = page.split_once("**10.1 All of them.**").unwrap();
        let (table, _) = from_there.split_once("\n## ").unwrap();
        let listed: Vec<String> = table
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(endpoint, _)| endpoint.replace(":id_or_domain", "{id}").replace(":id", "{id}"))
            .collect();
        let routed: Vec<String> =
            ROUTES.iter().map(|route| format!("{} {}", route.method, route.pattern)).collect();
        assert_eq!(listed, routed);
    }

    #[test]
    fn every_route_is_named_once_and_routed_by_its_own_method() {
        for (at, route) in ROUTES.iter().enumerate() {
            let same = |other: &&Route| other.method == route.method && other.pattern == route.pattern;
            assert_eq!(
                ROUTES.iter().position(|other| same(&other)),
                Some(at),
                "{} {}",
                route.method,
                route.pattern
            );
            assert_eq!(method_of(route.method).as_str(), route.method);
        }
    }
}
