//! The operator's console: reads from the database what the pages of `guerdon-console` show. One file per page or group
//! of pages.

mod attempts;
mod audit;
mod companies;
mod events;
mod overview;
mod providers;

use std::collections::HashMap;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY as POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use guerdon_console::model::{Counted, Named};
use guerdon_console::{CONTENT_SECURITY_POLICY, Frame, Query, STYLE, STYLE_PATH, pages};
use guerdon_domain::companies::anybodys;
use guerdon_domain::ports::{Clock as _, Reads, Setting, StoreError, StoreExt, Timestamp};
use guerdon_domain::values::{CompanyId, ProviderId};
use time::OffsetDateTime;

use crate::maintenance::Service;
use crate::platform::SystemClock;
use crate::platform::build_info::VERSION;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// The data access for one page.
struct Look<'a> {
    reads: &'a mut dyn Reads,
    service: &'a Service,
    query: &'a Query,
    now: Timestamp,
}

impl Look<'_> {
    fn time(&self) -> OffsetDateTime {
        when(self.now)
    }

    /// Returns the first of the last `count` hours, including the current one.
    fn hours_back(&self, count: i32) -> i32 {
        guerdon_domain::ports::hour_of(self.now) - count + 1
    }

    /// Returns the first of the last `count` days, including today.
    fn days_back(&self, count: i32) -> i32 {
        guerdon_domain::ports::day_of(self.now) - count + 1
    }

    fn provider_names(&mut self) -> Result<HashMap<ProviderId, String>, StoreError> {
        Ok(self.reads.providers()?.into_iter().map(|provider| (provider.id, provider.name)).collect())
    }

    /// Returns the company's name with its id.
    fn company_name(&mut self, id: CompanyId) -> Result<Named, StoreError> {
        let found = anybodys(self.reads, id)?;
        let name = found.map_or_else(|| id.to_string(), |company| company.name.as_str().to_owned());
        Ok(Named { id: id.to_string(), name })
    }
}

fn named(names: &HashMap<ProviderId, String>, id: ProviderId) -> Named {
    Named { id: id.to_string(), name: names.get(&id).cloned().unwrap_or_else(|| id.to_string()) }
}

fn when(at: Timestamp) -> OffsetDateTime {
    at.utc().into()
}

/// Returns the start of an hour, counted since 1970.
fn hour_begins(hour: i32) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + time::Duration::hours(i64::from(hour))
}

/// Returns the start of a day, counted since 1970.
fn day_begins(day: i32) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + time::Duration::days(i64::from(day))
}

/// Counts stop at this number.
const MOST: i64 = Counted::MAX.cast_signed();

fn counted(it: i64) -> Counted {
    Counted::new(count(it))
}

fn count(it: i64) -> u64 {
    u64::try_from(it).unwrap_or(0)
}

/// The response to a request to the console.
pub(crate) struct Shown {
    status: StatusCode,
    kind: &'static str,
    body: String,
}

/// Renders the page at a path of the console. Invalid query parameters are ignored.
pub(crate) fn shown(service: &Service, path: &str, query: &str) -> Shown {
    if path == STYLE_PATH {
        return Shown { status: StatusCode::OK, kind: CSS, body: STYLE.to_owned() };
    }
    let (query, now) = (Query::parse(query), SystemClock.now());
    let mut frame = Frame {
        now: when(now),
        instance: service.instance.clone(),
        version: VERSION.to_owned(),
        is_in_maintenance: false,
    };
    let page = service.store.snapshot(|reads| {
        frame.is_in_maintenance = reads.setting(Setting::Maintenance)?.as_deref() == Some(Setting::ON);
        page(Look { reads, service, query: &query, now }, path, &frame)
    });
    let (status, body) = match page {
        Ok(Some(page)) => (StatusCode::OK, page),
        Ok(None) => (StatusCode::NOT_FOUND, pages::missing::page(&frame)),
        Err(cause) => {
            log::warn!("cannot render a console page: {cause}");
            (StatusCode::SERVICE_UNAVAILABLE, pages::failed::page(&frame))
        }
    };
    Shown { status, kind: HTML, body }
}

fn page(look: Look<'_>, path: &str, frame: &Frame) -> Result<Option<String>, StoreError> {
    let query = look.query;
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    Ok(match parts.as_slice() {
        [""] => Some(pages::overview::page(&overview::overview(look)?, frame)),
        ["companies"] => Some(pages::companies::page(&companies::companies(look)?, query, frame)),
        ["companies", id] => {
            companies::company(look, id)?.map(|company| pages::company::page(&company, query, frame))
        }
        ["providers"] => Some(pages::providers::page(&providers::providers(look)?, query, frame)),
        ["providers", id] => {
            providers::provider(look, id)?.map(|provider| pages::provider::page(&provider, frame))
        }
        ["events"] => Some(pages::events::page(&events::events(look)?, query, frame)),
        ["events", id] => events::event(look, id)?.map(|event| pages::event::page(&event, frame)),
        ["schedules"] => Some(pages::schedules::page(&companies::schedules(look)?, query, frame)),
        ["audit"] => Some(pages::audit::page(&audit::audit(look)?, query, frame)),
        _ => None,
    })
}

impl Shown {
    /// Converts the page into an HTTP response.
    pub(crate) fn into_response(self) -> HttpResponse {
        let Self { status, kind, body } = self;
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
        response
    }
}
