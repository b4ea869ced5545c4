//! The table of events, newest first.

use maud::{Markup, html};

use crate::components::{self, Tone};
use crate::forms;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{EventRow, EventState, Events};
use crate::numbers;
use crate::query::Query;
use crate::time_format;

/// The filter of events: `?provider=ID&state=exhausted&type=redemption.created`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFilter {
    /// An id as requested, not validated.
    pub provider: Option<String>,
    pub state: Option<EventState>,
    pub kind: Option<String>,
}

impl EventFilter {
    /// Reads the parameters. An unknown state is ignored.
    pub fn from_query(query: &Query) -> Self {
        Self {
            provider: query.get("provider").map(str::to_owned),
            state: query.get("state").and_then(EventState::from_name),
            kind: query.get("type").map(str::to_owned),
        }
    }
}

/// Renders a section of the events.
pub fn render_page(events: &Events, query: &Query, frame: &Frame) -> String {
    let path = Section::Events.path();
    let filter = EventFilter::from_query(query);
    let providers: Vec<(&str, &str)> =
        events.providers.iter().map(|provider| (provider.id.as_str(), provider.name.as_str())).collect();
    let types: Vec<(&str, &str)> = events.types.iter().map(|kind| (kind.as_str(), kind.as_str())).collect();
    let fields = html! {
        (forms::select_field("State", "state", &EventState::ALL.map(|state| (state.name(), state.name())), query))
        (forms::select_field("Provider", "provider", &providers, query))
        (forms::select_field("Type", "type", &types, query))
    };
    let is_filtered = filter != EventFilter { provider: None, state: None, kind: None };
    let main = html! {
        h1 { "Events" }
        (forms::filter_form(path, query, &["provider", "state", "type"], &fields))
        @if !events.list.rows.is_empty() {
            (event_table(events, frame))
        } @else if is_filtered {
            (components::empty_message("No event matches the filter."))
        } @else {
            (components::empty_message("There are no events yet. Recognitions and redemptions create them."))
        }
        (components::cursor_links(&events.list, query, path))
        (event_list_commands(&filter))
    };
    frame::render_frame(frame, PagePosition::Front(Section::Events), "Events", &main)
}

fn event_table(events: &Events, frame: &Frame) -> Markup {
    let rows = html! {
        @for event in &events.list.rows {
            tr {
                td { (time_format::render_timestamp(event.created_at)) }
                td { (components::state_badge(event.state)) }
                td { (event.kind) }
                td.name { (components::provider_link(&event.provider)) }
                td.number { (numbers::format_count(event.attempts.into())) }
                td.wrap { (latest_result(event)) }
                td {
                    @match event.next_attempt_at {
                        Some(at) if at <= frame.now => "due",
                        Some(at) => (time_format::format_age(frame.now, at)),
                        None => span.soft { "–" },
                    }
                }
                th scope="row" { (components::event_link(&event.id)) }
            }
        }
    };
    let head = components::column_headings(&[
        "Created",
        "State",
        "Type",
        "Provider",
        "Attempts#",
        "Last response",
        "Next attempt",
        "Event",
    ]);
    components::scrollable_table("Events, newest first", &head, &rows)
}

/// Renders the status of the latest response, or why there was none.
fn latest_result(event: &EventRow) -> Markup {
    html! {
        @match event.latest.as_ref().map(|latest| (latest.status, &latest.cause)) {
            Some((Some(200), None)) => "200",
            Some((Some(status), _)) => (components::badge(Tone::Bad, &status.to_string())),
            Some((None, cause)) => { (components::badge(Tone::Bad, "failed")) " " (cause.as_deref().unwrap_or_default()) },
            None => span.soft { "–" },
        }
    }
}

/// Renders commands that list and replay events with those parts of the filter that the command line supports.
fn event_list_commands(filter: &EventFilter) -> Markup {
    let provider = filter.provider.as_deref().filter(|id| is_id(id));
    let mut list = "guerdon event list".to_owned();
    if let Some(id) = provider {
        list.push_str(&format!(" --provider {id}"));
    }
    if let Some(state) = filter.state {
        list.push_str(&format!(" --state {}", state.name()));
    }
    let mut all = vec![("List these on the command line", format!("{list} --since 7d"))];
    if let Some(state) = filter.state.filter(|state| *state != EventState::Delivered) {
        let provider = provider.unwrap_or("PROVIDER_ID");
        let replay = format!("guerdon event replay --provider {provider} --state {}", state.name());
        all.push(("Replay all events of a provider", replay));
    }
    all.push(("Replay some", "guerdon event replay EVENT_ID EVENT_ID".to_owned()));
    components::command_list(&all)
}

/// Whether a string looks like an id. Only ids are copied into commands: a query may contain anything, and people paste
/// the commands into a shell.
fn is_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_copy_only_valid_filters() {
        let render_commands =
            |query: &str| event_list_commands(&EventFilter::from_query(&Query::parse(query))).into_string();
        let id = "01a1fdd4-8a51-741c-a29d-73192bacd34c";
        let page = render_commands(&format!("provider={id}&state=exhausted"));
        assert!(page.contains(&format!("guerdon event replay --provider {id} --state exhausted")), "{page}");
        let page = render_commands("provider=%24%28reboot%29&state=delivered");
        assert!(!page.contains("reboot") && page.contains("guerdon event list --state delivered"), "{page}");
    }
}
