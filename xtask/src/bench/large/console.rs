//! Measures the console's pages over the large database.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::bench::results::{Goal, ResultRow};
use crate::measurement::service::RunningService;

/// The number of requests per page, and the longest that a page may take.
const REQUESTS_PER_PAGE: usize = 20;
const PAGE_TIME_MAX: Duration = Duration::from_millis(200);

/// Measures the response times of the console's pages.
pub(super) fn measure(service: &RunningService, company: &str, provider: &str) -> Result<Vec<ResultRow>> {
    let page = |path: &str| -> Result<(Duration, String)> {
        service.get_console_page(path).with_context(|| format!("the page {path}"))
    };
    let (_, events) = page("/events")?;
    let event = events.split(" href=\"").find(|path| path.starts_with("/events/")).unwrap_or_default();
    let event = event.split('"').next().unwrap_or_default().to_owned();
    let paths = [
        ("overview", "/".to_owned()),
        ("companies", "/companies".to_owned()),
        ("companies by reserve", "/companies?sort=reserve&order=desc".to_owned()),
        ("a company", format!("/companies/{company}")),
        ("a company, 90 days", format!("/companies/{company}?days=90")),
        ("providers", "/providers".to_owned()),
        ("a provider", format!("/providers/{provider}")),
        ("events", "/events".to_owned()),
        ("exhausted events", "/events?state=exhausted".to_owned()),
        ("an event", event),
        ("schedules", "/schedules".to_owned()),
        ("audit", "/audit".to_owned()),
        ("audit of a company", format!("/audit?company={company}")),
    ];
    let mut rows = Vec::new();
    for (name, path) in paths {
        let times = (0..REQUESTS_PER_PAGE).map(|_| Ok(page(&path)?.0)).collect::<Result<Vec<_>>>()?;
        let row = ResultRow::new(format!("large: console, {name}")).with_times(times);
        rows.push(row.with_goals(&[Goal::P99Below(PAGE_TIME_MAX)], &[]));
    }
    Ok(rows)
}
