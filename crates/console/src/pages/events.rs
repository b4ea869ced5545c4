//! The table of events, newest first.

use maud::{Markup, html};

use crate::forms;
use crate::frame::{self, At, Frame, Section};
use crate::model::{EventState, Events};
use crate::numbers;
use crate::parts;
use crate::query::Query;
use crate::times;

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
    pub fn read(query: &Query) -> Self {
        Self {
            provider: query.get("provider").map(str::to_owned),
            state: query.get("state").and_then(EventState::named),
            kind: query.get("type").map(str::to_owned),
        }
    }
}

/// Renders a section of the events.
pub fn page(events: &Events, query: &Query, frame: &Frame) -> String {
    let path = Section::Events.path();
    let filter = EventFilter::read(query);
    let providers: Vec<(&str, &str)> =
        events.providers.iter().map(|provider| (provider.id.as_str(), provider.name.as_str())).collect();
    let types: Vec<(&str, &str)> = events.types.iter().map(|kind| (kind.as_str(), kind.as_str())).collect();
    let fields = html! {
        (forms::choice("State", "state", &EventState::ALL.map(|state| (state.name(), state.name())), query))
        (forms::choice("Provider", "provider", &providers, query))
        (forms::choice("Type", "type", &types, query))
    };
    let is_narrowed = filter != EventFilter { provider: None, state: None, kind: None };
    let main = html! {
        h1 { "Events" }
        (forms::filter(path, query, &["provider", "state", "type"], &fields))
        @if !events.list.rows.is_empty() {
            (table(events, frame))
        } @else if is_narrowed {
            (parts::nothing("No event is like that."))
        } @else {
            (parts::nothing("There is no event yet. Recognitions and redemptions make them."))
        }
        (parts::cursors(&events.list, query, path))
        (commands(&filter))
    };
    frame::page(frame, At::Front(Section::Events), "Events", &main)
}

fn table(events: &Events, frame: &Frame) -> Markup {
    let rows = html! {
        @for it in &events.list.rows {
            tr {
                td { (times::moment(it.created_at)) }
                td { (parts::state(it.state)) }
                td { (it.kind) }
                td.name { (parts::provider(&it.provider)) }
                td.number { (numbers::counted(it.attempts.into())) }
                td {
                    @match it.next_attempt_at {
                        Some(at) if at <= frame.now => "due",
                        Some(at) => (times::ago(frame.now, at)),
                        None => span.soft { "–" },
                    }
                }
                th scope="row" { (parts::event(&it.id)) }
            }
        }
    };
    let head =
        parts::headings(&["Created", "State", "Type", "Provider", "Attempts#", "Next attempt", "Event"]);
    parts::table("Events, newest first", &head, &rows)
}

/// Renders commands with the same filter, as far as the command line supports it.
fn commands(filter: &EventFilter) -> Markup {
    let provider = filter.provider.as_deref().filter(|id| is_id(id));
    let mut list = "guerdon event list".to_owned();
    if let Some(id) = provider {
        list.push_str(&format!(" --provider {id}"));
    }
    if let Some(state) = filter.state {
        list.push_str(&format!(" --state {}", state.name()));
    }
    let mut all = vec![("List these on the command line", format!("{list} --since 7d"))];
    let kept = filter.state.filter(|state| matches!(state, EventState::Exhausted | EventState::Unaddressed));
    if let Some(state) = kept {
        let provider = provider.unwrap_or("PROVIDER_ID");
        let replay = format!("guerdon event replay --provider {provider} --state {}", state.name());
        all.push(("Send all of a provider's again", replay));
    }
    all.push(("Send some again", "guerdon event replay EVENT_ID EVENT_ID".to_owned()));
    parts::commands(&all)
}

/// A query may contain anything, and people copy commands into a shell.
fn is_id(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_take_over_what_was_chosen_and_nothing_else() {
        let told = |query: &str| commands(&EventFilter::read(&Query::parse(query))).into_string();
        let id = "01a1fdd4-8a51-741c-a29d-73192bacd34c";
        let page = told(&format!("provider={id}&state=exhausted"));
        assert!(page.contains(&format!("guerdon event replay --provider {id} --state exhausted")), "{page}");
        let page = told("provider=%24%28reboot%29&state=delivered");
        assert!(!page.contains("reboot") && page.contains("guerdon event list --state delivered"), "{page}");
    }
}
