//! Elements that many pages share.

use maud::{Markup, html};

use crate::listing::{Column, Listing, PER_PAGE};
use crate::model::{EventState, Named, Rows, Stretch};
use crate::numbers;
use crate::query::Query;

/// How an element is highlighted. Its text always says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Warn,
    Bad,
}

impl Tone {
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

pub(crate) fn badge(tone: Tone, text: &str) -> Markup {
    html! { span class={ "badge " (tone.class()) } { (text) } }
}

pub(crate) const fn state_tone(state: EventState) -> Tone {
    match state {
        EventState::Pending => Tone::Plain,
        EventState::Delivered => Tone::Good,
        EventState::Exhausted => Tone::Bad,
        EventState::Unaddressed => Tone::Warn,
    }
}

pub(crate) fn state(state: EventState) -> Markup {
    badge(state_tone(state), state.name())
}

/// Renders a list of names and values.
pub(crate) fn facts(all: &[(&str, Markup)]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in all {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Renders the most important numbers: for each its label, its value and a note below.
pub(crate) fn tiles(all: &[(&str, Markup, Markup)]) -> Markup {
    html! {
        dl.tiles {
            @for (name, figure, note) in all {
                div { dt { (name) } dd.figure { (figure) } dd.soft { (note) } }
            }
        }
    }
}

/// Renders the commands for a page: for each its purpose and its command line.
pub(crate) fn commands(all: &[(&str, String)]) -> Markup {
    html! {
        section.commands aria-labelledby="commands" {
            h2 #commands { "Commands" }
            dl {
                @for (what, command) in all {
                    div { dt { (what) } dd { (line(command)) } }
                }
            }
        }
    }
}

/// Renders a command line that is selected as a whole and scrolls, also with the keyboard.
pub(crate) fn line(command: &str) -> Markup {
    html! { pre.command tabindex="0" { code { (command) } } }
}

/// Renders a table that scrolls if it is wider than the page.
pub(crate) fn table(label: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        div.table role="region" aria-label=(label) tabindex="0" {
            table { thead { tr { (head) } } tbody { (body) } }
        }
    }
}

/// Renders headings of columns that cannot be sorted by. A heading that ends with `#` is for numbers.
pub(crate) fn headings(all: &[&str]) -> Markup {
    html! {
        @for heading in all {
            @if let Some(heading) = heading.strip_suffix('#') {
                th.number scope="col" { (heading) }
            } @else {
                th scope="col" { (heading) }
            }
        }
    }
}

/// Renders the heading of a sortable column: a link that sorts by it or reverses the order.
pub(crate) fn sorted<C: Column>(listing: &Listing<C>, query: &Query, path: &str, column: C) -> Markup {
    let is_chosen = listing.column == Some(column);
    let descends = if is_chosen { !listing.is_descending } else { column.is_number() };
    let (order, mark) = match (is_chosen, listing.is_descending) {
        (false, _) => (None, ""),
        (true, false) => (Some("ascending"), "▲"),
        (true, true) => (Some("descending"), "▼"),
    };
    let asked = query.without(&["page", "sort", "order"]).with("sort", column.name());
    let link = asked.with("order", if descends { "desc" } else { "asc" }).link(path);
    html! {
        th scope="col" class=[column.is_number().then_some("number")] aria-sort=[order] {
            a href=(link) { (column.heading()) @if !mark.is_empty() { " " span aria-hidden="true" { (mark) } } }
        }
    }
}

/// Renders links to the first, previous, next and last page.
pub(crate) fn pages<C: Column, T>(listing: &Listing<C>, list: &Rows<T>, query: &Query, path: &str) -> Markup {
    let last = list.total.div_ceil(u64::from(PER_PAGE)).max(1);
    let page = u64::from(listing.page);
    let link = |to: u64| query.with("page", &to.to_string()).link(path);
    let shown = u64::try_from(list.rows.len()).unwrap_or(u64::MAX);
    let first = listing.offset().saturating_add(1);
    html! {
        nav.pages aria-label="Pages" {
            p {
                @if shown == 0 { "None of " (numbers::counted(list.total)) " are on this page." }
                @else {
                    (numbers::counted(first)) "–" (numbers::counted(listing.offset().saturating_add(shown)))
                    " of " (numbers::counted(list.total))
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
pub(crate) fn cursors<T>(stretch: &Stretch<T>, query: &Query, path: &str) -> Markup {
    let base = query.without(&["before", "after"]);
    let is_newest = stretch.newer.is_none();
    html! {
        @if !is_newest || stretch.older.is_some() {
            nav.pages aria-label="Newer and older" {
                ul {
                    @if let Some(cursor) = &stretch.newer {
                        li { a href=(base.link(path)) { "Newest" } }
                        li { a rel="prev" href=(base.with("after", cursor).link(path)) { "← Newer" } }
                    }
                    @if let Some(cursor) = &stretch.older {
                        li { a rel="next" href=(base.with("before", cursor).link(path)) { "Older →" } }
                    }
                }
            }
        }
    }
}

pub(crate) fn company(it: &Named) -> Markup {
    named("/companies", it)
}

pub(crate) fn provider(it: &Named) -> Markup {
    named("/providers", it)
}

fn named(path: &str, it: &Named) -> Markup {
    html! { a href={ (path) "/" (it.id) } { (it.name) } }
}

pub(crate) fn event(id: &str) -> Markup {
    html! { a.id href={ "/events/" (id) } { (id) } }
}

/// Renders prose with commands between backticks.
pub(crate) fn prose(text: &str) -> Markup {
    html! {
        @for (number, piece) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// Renders why something fails, and what to do.
pub(crate) fn advice(tone: Tone, text: &str) -> Markup {
    html! { p class={ "advice " (tone.class()) } { strong { "Likely cause. " } (prose(text)) } }
}

/// Renders the message of an empty table or page.
pub(crate) fn nothing(text: &str) -> Markup {
    html! { p.nothing { (text) } }
}

/// Returns a wallet's kind in words.
pub(crate) fn wallet(name: &str) -> String {
    name.replace('_', " ")
}
