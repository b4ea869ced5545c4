//! Elements that many pages share.

use maud::{Markup, html};

use crate::listing::{Column, Listing, ROWS_PER_PAGE};
use crate::model::{EventState, LogPage, ObjectReference, Percentiles, TablePage};
use crate::numbers;
use crate::query::Query;

/// How an element is highlighted. The text conveys the same meaning without the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Warn,
    Bad,
}

impl Tone {
    pub(crate) const fn css_class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

pub(crate) fn badge(tone: Tone, text: &str) -> Markup {
    html! { span class={ "badge " (tone.css_class()) } { (text) } }
}

pub(crate) const fn state_tone(state: EventState) -> Tone {
    match state {
        EventState::Pending => Tone::Plain,
        EventState::Delivered => Tone::Good,
        EventState::Exhausted => Tone::Bad,
        EventState::Unaddressed => Tone::Warn,
    }
}

pub(crate) fn state_badge(state: EventState) -> Markup {
    badge(state_tone(state), state.name())
}

/// Renders a list of names and values.
pub(crate) fn fact_list(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Renders the most important numbers: for each its label, its value and a note below.
pub(crate) fn tile_list(tiles: &[(&str, Markup, Markup)]) -> Markup {
    html! {
        dl.tiles {
            @for (name, value, note) in tiles {
                div { dt { (name) } dd.figure { (value) } dd.soft { (note) } }
            }
        }
    }
}

/// Renders the commands for a page: for each its purpose and its command line.
pub(crate) fn command_list(commands: &[(&str, String)]) -> Markup {
    html! {
        section.commands aria-labelledby="commands" {
            h2 #commands { "Commands" }
            dl {
                @for (purpose, command) in commands {
                    div { dt { (purpose) } dd { (command_line(command)) } }
                }
            }
        }
    }
}

/// Renders a command line that is selected as a whole and wraps if it is longer than a line.
pub(crate) fn command_line(command: &str) -> Markup {
    html! { pre.command tabindex="0" { code { (command) } } }
}

/// Renders a table that scrolls if it is wider than the page.
pub(crate) fn scrollable_table(label: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        div.table role="region" aria-label={ "Table: " (label) } tabindex="0" {
            table { thead { tr { (head) } } tbody { (body) } }
        }
    }
}

/// Renders the headings of columns that are not sortable. A `#` at the end of a name marks a column of numbers and is
/// not shown.
pub(crate) fn column_headings(names: &[&str]) -> Markup {
    html! {
        @for heading in names {
            @if let Some(heading) = heading.strip_suffix('#') {
                th.number scope="col" { (heading) }
            } @else {
                th scope="col" { (heading) }
            }
        }
    }
}

/// Renders the heading of a sortable column: a link that sorts by it or reverses the order.
pub(crate) fn sortable_heading<C: Column>(
    listing: &Listing<C>,
    query: &Query,
    path: &str,
    column: C,
) -> Markup {
    let is_sorted_by = listing.column == Some(column);
    let descends = if is_sorted_by { !listing.is_descending } else { column.is_number() };
    let (order, mark) = match (is_sorted_by, listing.is_descending) {
        (false, _) => (None, ""),
        (true, false) => (Some("ascending"), "▲"),
        (true, true) => (Some("descending"), "▼"),
    };
    let sorted_query =
        query.without_parameters(&["page", "sort", "order"]).with_parameter("sort", column.sort_key());
    let link = sorted_query.with_parameter("order", if descends { "desc" } else { "asc" }).to_link(path);
    html! {
        th scope="col" class=[column.is_number().then_some("number")] aria-sort=[order] {
            a href=(link) { (column.heading()) @if !mark.is_empty() { " " span aria-hidden="true" { (mark) } } }
        }
    }
}

/// Renders links to the first, previous, next and last page.
pub(crate) fn page_links<C: Column, T>(
    listing: &Listing<C>,
    list: &TablePage<T>,
    query: &Query,
    path: &str,
) -> Markup {
    let last = list.total.div_ceil(u64::from(ROWS_PER_PAGE)).max(1);
    let page = u64::from(listing.page);
    let link = |to: u64| query.with_parameter("page", &to.to_string()).to_link(path);
    let row_count = u64::try_from(list.rows.len()).unwrap_or(u64::MAX);
    let first = listing.offset().saturating_add(1);
    html! {
        nav.pages aria-label="Pages" {
            p {
                @if row_count == 0 { "None of " (numbers::format_count(list.total)) " are on this page." }
                @else {
                    (numbers::format_count(first)) "–" (numbers::format_count(listing.offset().saturating_add(row_count)))
                    " of " (numbers::format_count(list.total))
                }
            }
            @if last > 1 || page > last {
                ul {
                    @if page > 1 {
                        li { a href=(link(1)) { "First" } }
                        li { a rel="prev" href=(link((page - 1).min(last))) { "Previous" } }
                    }
                    @if page < last {
                        li { a rel="next" href=(link(page + 1)) { "Next" } }
                        li { a href=(link(last)) { "Last" } }
                    }
                }
            }
        }
    }
}

/// Renders links to newer and older entries of a log.
pub(crate) fn cursor_links<T>(log_page: &LogPage<T>, query: &Query, path: &str) -> Markup {
    let base = query.without_parameters(&["before", "after"]);
    // A log may know only its older entries.
    let is_newest = log_page.newer.is_none() && query.get("before").is_none();
    html! {
        @if !is_newest || log_page.older.is_some() {
            nav.pages aria-label="Newer and older" {
                ul {
                    @if !is_newest {
                        li { a href=(base.to_link(path)) { "Newest" } }
                    }
                    @if let Some(cursor) = &log_page.newer {
                        li { a rel="prev" href=(base.with_parameter("after", cursor).to_link(path)) { "← Newer" } }
                    }
                    @if let Some(cursor) = &log_page.older {
                        li { a rel="next" href=(base.with_parameter("before", cursor).to_link(path)) { "Older →" } }
                    }
                }
            }
        }
    }
}

pub(crate) fn company_link(object: &ObjectReference) -> Markup {
    object_link("/companies", object)
}

pub(crate) fn provider_link(object: &ObjectReference) -> Markup {
    object_link("/providers", object)
}

fn object_link(path: &str, object: &ObjectReference) -> Markup {
    html! { a href={ (path) "/" (object.id) } { (object.name) } }
}

pub(crate) fn user_link(id: &str) -> Markup {
    html! { a.id href={ "/users/" (id) } { (id) } }
}

/// Formats percentiles of durations as `p50 1.2 ms, p95 8 ms, p99 21 ms`.
pub(crate) fn format_percentiles(percentiles: &Percentiles) -> String {
    let Percentiles { p50, p95, p99 } = *percentiles;
    let format = numbers::format_micros;
    format!("p50 {}, p95 {}, p99 {}", format(p50), format(p95), format(p99))
}

pub(crate) fn event_link(id: &str) -> Markup {
    html! { a.id href={ "/events/" (id) } { (id) } }
}

/// Renders prose with commands between backticks.
pub(crate) fn render_prose(text: &str) -> Markup {
    html! {
        @for (number, piece) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// Renders why something fails, and what to do.
pub(crate) fn advice_paragraph(tone: Tone, text: &str) -> Markup {
    html! { p class={ "advice " (tone.css_class()) } { strong { "Likely cause. " } (render_prose(text)) } }
}

/// Renders the message of an empty table or page.
pub(crate) fn empty_message(text: &str) -> Markup {
    html! { p.nothing { (text) } }
}

/// Returns a wallet's kind in words.
pub(crate) fn wallet_label(name: &str) -> String {
    name.replace('_', " ")
}
