//! The operator's console: reads the data for the pages of `guerdon-console` from the database. There is one file per
//! page or group of pages.

mod attempts;
mod audit;
mod companies;
mod events;
mod overview;
mod providers;
mod requests;
mod search;
mod users;

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY as POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use guerdon_console::model::{CappedCount, ObjectReference};
use guerdon_console::{CONTENT_SECURITY_POLICY, Frame, Query, SEARCH_PATH, STYLE, STYLE_PATH, pages};
use guerdon_domain::any_provider;
use guerdon_domain::ports::{Clock as _, ReadTx, Setting, StoreError, StoreExt, Timestamp};
use guerdon_domain::values::{CompanyId, ProviderId};
use time::OffsetDateTime;

use crate::maintenance::StatusSources;
use crate::platform::SystemClock;
use crate::platform::build_info::VERSION;

const HTML_TYPE: &str = "text/html; charset=utf-8";
const CSS_TYPE: &str = "text/css; charset=utf-8";

/// The data sources of one page.
struct PageContext<'a> {
    reads: &'a mut dyn ReadTx,
    service: &'a StatusSources,
    query: &'a Query,
    now: Timestamp,
}

impl PageContext<'_> {
    fn now_utc(&self) -> OffsetDateTime {
        to_utc(self.now)
    }

    /// Returns the first of the last `count` hours, including the current one.
    fn hours_back(&self, count: i32) -> i32 {
        guerdon_domain::ports::hours_since_epoch(self.now) - count + 1
    }

    /// Returns the first of the last `count` days, including today.
    fn days_back(&self, count: i32) -> i32 {
        guerdon_domain::ports::days_since_epoch(self.now) - count + 1
    }

    fn provider_names(&mut self) -> Result<HashMap<ProviderId, String>, StoreError> {
        Ok(self.reads.list_providers()?.into_iter().map(|provider| (provider.id, provider.name)).collect())
    }

    /// Returns the company's name with its id.
    fn company_name(&mut self, id: CompanyId) -> Result<ObjectReference, StoreError> {
        let found = any_provider::find_company(self.reads, id)?;
        let name = found.map_or_else(|| id.to_string(), |company| company.name.as_str().to_owned());
        Ok(ObjectReference { id: id.to_string(), name })
    }
}

fn provider_reference(names: &HashMap<ProviderId, String>, id: ProviderId) -> ObjectReference {
    ObjectReference { id: id.to_string(), name: names.get(&id).cloned().unwrap_or_else(|| id.to_string()) }
}

/// Returns all providers, ordered by name.
fn provider_references(names: &HashMap<ProviderId, String>) -> Vec<ObjectReference> {
    let mut all: Vec<ObjectReference> =
        names.iter().map(|(id, name)| ObjectReference { id: id.to_string(), name: name.clone() }).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn to_utc(at: Timestamp) -> OffsetDateTime {
    at.to_utc().into()
}

/// Returns the start of the hour with this number. Hours are counted since 1970.
fn start_of_hour(hour: i32) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + time::Duration::hours(i64::from(hour))
}

/// Returns the start of the day with this number. Days are counted since 1970.
fn start_of_day(day: i32) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + time::Duration::days(i64::from(day))
}

/// Counting stops at this number.
const COUNT_MAX: i64 = CappedCount::MAX.cast_signed();

fn capped_count(number: i64) -> CappedCount {
    CappedCount::new(to_count(number))
}

fn to_count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The response to a request to the console.
pub(crate) struct ConsolePage {
    status: StatusCode,
    content_type: &'static str,
    body: String,
    /// The target of a redirect.
    location: Option<String>,
}

/// A rendered page, or the path of the page to redirect to.
enum Rendered {
    Page(String),
    Redirect(String),
}

/// Renders the page at a path of the console. Invalid query parameters are ignored.
pub(crate) fn render_page(service: &StatusSources, path: &str, query: &str) -> ConsolePage {
    if path == STYLE_PATH {
        let (status, body) = (StatusCode::OK, STYLE.to_owned());
        return ConsolePage { status, content_type: CSS_TYPE, body, location: None };
    }
    let path = format!("/{}", path.trim_start_matches('/')); // a path with two slashes is a link to another host
    // An email address in the query must not appear in the link that reloads the page.
    let holds_address =
        path == SEARCH_PATH && Query::parse(query).get("q").is_some_and(|text| text.contains('@'));
    let reload_link =
        if query.is_empty() || holds_address { path.clone() } else { format!("{path}?{query}") };
    render_with(service, &Query::parse(query), reload_link, |context, frame| {
        render_route(context, &path, frame)
    })
}

/// Handles the search form in the header of every page. Renders the results for an email address directly, so that the
/// address never appears in a URL. Redirects every other search to a URL that can be reloaded.
pub(crate) fn render_search(service: &StatusSources, form: &[u8]) -> ConsolePage {
    let form = Query::parse(&String::from_utf8_lossy(form));
    let text = form.get("q").unwrap_or_default();
    render_with(service, &Query::default(), SEARCH_PATH.to_owned(), |mut context, frame| {
        if text.contains('@') {
            search::render_results(&mut context, text, false, frame).map(Some)
        } else {
            Ok(Some(Rendered::Redirect(search::search_path(text))))
        }
    })
}

fn render_with(
    service: &StatusSources,
    query: &Query,
    reload_link: String,
    render: impl Fn(PageContext<'_>, &Frame) -> Result<Option<Rendered>, StoreError>,
) -> ConsolePage {
    let now = SystemClock.now();
    let mut frame = Frame {
        now: to_utc(now),
        instance: match &service.cell {
            Some(cell) => format!("{}, cell {cell}", service.instance),
            None => service.instance.clone(),
        },
        version: VERSION.to_owned(),
        is_in_maintenance: false,
        reload_link,
    };
    let page = service.store.read_snapshot(|reads| {
        frame.is_in_maintenance = reads.get_setting(Setting::Maintenance)?.as_deref() == Some(Setting::ON);
        render(PageContext { reads, service, query, now }, &frame)
    });
    let (status, body, location) = match page {
        Ok(Some(Rendered::Page(page))) => (StatusCode::OK, page, None),
        Ok(Some(Rendered::Redirect(path))) => (StatusCode::SEE_OTHER, String::new(), Some(path)),
        Ok(None) => (StatusCode::NOT_FOUND, pages::not_found::render_page(&frame), None),
        Err(cause) => {
            log::warn!(cause:%; "cannot render a console page");
            (StatusCode::SERVICE_UNAVAILABLE, pages::unavailable::render_page(&frame), None)
        }
    };
    ConsolePage { status, content_type: HTML_TYPE, body, location }
}

fn render_route(
    mut context: PageContext<'_>,
    path: &str,
    frame: &Frame,
) -> Result<Option<Rendered>, StoreError> {
    if path == SEARCH_PATH {
        let text = context.query.get("q").unwrap_or_default();
        return search::render_results(&mut context, text, true, frame).map(Some);
    }
    Ok(render_content(context, path, frame)?.map(Rendered::Page))
}

fn render_content(context: PageContext<'_>, path: &str, frame: &Frame) -> Result<Option<String>, StoreError> {
    let query = context.query;
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    Ok(match parts.as_slice() {
        [""] => Some(pages::overview::render_page(&overview::load_overview(context)?, frame)),
        ["companies"] => {
            Some(pages::companies::render_page(&companies::load_companies(context)?, query, frame))
        }
        ["companies", id] => companies::load_company(context, id)?
            .map(|company| pages::company::render_page(&company, query, frame)),
        ["providers"] => {
            Some(pages::providers::render_page(&providers::load_providers(context)?, query, frame))
        }
        ["providers", id] => providers::load_provider(context, id)?
            .map(|provider| pages::provider::render_page(&provider, frame)),
        ["events"] => Some(pages::events::render_page(&events::load_events(context)?, query, frame)),
        ["events", id] => {
            events::load_event(context, id)?.map(|event| pages::event::render_page(&event, frame))
        }
        ["requests"] => Some(pages::requests::render_page(&requests::load_requests(context)?, query, frame)),
        ["users", id] => users::load_user(context, id)?.map(|user| pages::user::render_page(&user, frame)),
        ["schedules"] => {
            Some(pages::schedules::render_page(&companies::load_schedules(context)?, query, frame))
        }
        ["audit"] => Some(pages::audit::render_page(&audit::load_audit_log(context)?, query, frame)),
        _ => None,
    })
}

impl ConsolePage {
    /// Converts the page into an HTTP response.
    pub(crate) fn into_response(self) -> HttpResponse {
        let Self { status, content_type: kind, body, location } = self;
        let headers: [(HeaderName, &'static str); 5] = [
            (CONTENT_TYPE, kind),
            (POLICY, CONTENT_SECURITY_POLICY),
            (CACHE_CONTROL, "no-store"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
        ];
        let mut response = HttpResponse::build(status).body(body);
        for (name, value) in headers {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        if let Some(location) = location.and_then(|path| HeaderValue::from_str(&path).ok()) {
            response.headers_mut().insert(LOCATION, location);
        }
        response
    }
}
