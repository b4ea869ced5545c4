//! The audit log.

use maud::{Markup, html};

use crate::components;
use crate::forms;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{Actor, AuditEntry, AuditLog};
use crate::query::Query;
use crate::time_format;

/// The filter of audit entries: `?actor=operator&action=deposit&company=ID`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFilter {
    /// The kind of an [`Actor`].
    pub actor: Option<String>,
    pub action: Option<String>,
    /// An id as requested, not validated.
    pub company: Option<String>,
}

impl AuditFilter {
    pub fn from_query(query: &Query) -> Self {
        let parameter = |name| query.get(name).map(str::to_owned);
        let actor = parameter("actor").filter(|kind| Actor::KINDS.contains(&kind.as_str()));
        Self { actor, action: parameter("action"), company: parameter("company") }
    }
}

/// Renders a section of the log.
pub fn render_page(log: &AuditLog, query: &Query, frame: &Frame) -> String {
    let path = Section::Audit.path();
    let actions: Vec<(&str, &str)> =
        log.actions.iter().map(|action| (action.as_str(), action.as_str())).collect();
    let fields = html! {
        (forms::select_field("Actor", "actor", &Actor::KINDS.map(|kind| (kind, kind)), query))
        (forms::select_field("Action", "action", &actions, query))
        (forms::text_field("Company, its id", "company", query))
    };
    let filter = AuditFilter::from_query(query);
    let is_filtered = filter != AuditFilter { actor: None, action: None, company: None };
    let main = html! {
        h1 { "Audit" }
        @if let Some(company) = &log.company {
            p.subtitle { "of " (components::company_link(company)) }
        }
        (forms::filter_form(path, query, &["actor", "action", "company"], &fields))
        @if !log.list.rows.is_empty() {
            (entry_table(&log.list.rows, true))
        } @else if is_filtered {
            (components::empty_message("No action matches the filter."))
        } @else {
            (components::empty_message("No action has been recorded."))
        }
        (components::cursor_links(&log.list, query, path))
        (components::command_list(&[
            ("Verify that no entry was removed or changed", "guerdon verify".to_owned()),
            ("Seal the committed entries, and print the head of the hash chain", "guerdon seal".to_owned()),
        ]))
    };
    frame::render_frame(frame, PagePosition::Front(Section::Audit), "Audit", &main)
}

/// Renders entries, newest first. A table for one company omits the company.
pub(super) fn entry_table(all: &[AuditEntry], with_company: bool) -> Markup {
    let rows = html! {
        @for entry in all {
            tr {
                th scope="row" { (time_format::render_timestamp(entry.at)) }
                td.name { (render_actor(&entry.actor)) }
                td { (entry.action) }
                @if with_company {
                    td.name { @if let Some(company) = &entry.company { (components::company_link(company)) } @else { span.soft { "–" } } }
                }
                td.wrap { (entry.detail) @if let Some(object) = &entry.object { br; code.soft { (object) } } }
            }
        }
    };
    let head = html! {
        (components::column_headings(&["At", "Actor", "Action"]))
        @if with_company { (components::column_headings(&["Company"])) }
        (components::column_headings(&["Detail and object"]))
    };
    components::scrollable_table("Actions, newest first", &head, &rows)
}

fn render_actor(actor: &Actor) -> Markup {
    html! {
        span.soft { (actor.kind()) } " "
        @match actor {
            Actor::Provider(provider) => (components::provider_link(provider)),
            Actor::Operator(user) => (user),
            Actor::Schedule(id) => code { (id) },
        }
    }
}
