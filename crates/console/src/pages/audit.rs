//! The audit log.

use maud::{Markup, html};

use crate::forms;
use crate::frame::{self, At, Frame, Section};
use crate::model::{Actor, AuditEntry, AuditLog};
use crate::parts;
use crate::query::Query;
use crate::times;

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
    pub fn read(query: &Query) -> Self {
        let own = |name| query.get(name).map(str::to_owned);
        let actor = own("actor").filter(|kind| Actor::KINDS.contains(&kind.as_str()));
        Self { actor, action: own("action"), company: own("company") }
    }
}

/// Renders a section of the log.
pub fn page(log: &AuditLog, query: &Query, frame: &Frame) -> String {
    let path = Section::Audit.path();
    let actions: Vec<(&str, &str)> =
        log.actions.iter().map(|action| (action.as_str(), action.as_str())).collect();
    let fields = html! {
        (forms::choice("Actor", "actor", &Actor::KINDS.map(|kind| (kind, kind)), query))
        (forms::choice("Action", "action", &actions, query))
        (forms::text("Company, its id", "company", query))
    };
    let filter = AuditFilter::read(query);
    let is_narrowed = filter != AuditFilter { actor: None, action: None, company: None };
    let main = html! {
        h1 { "Audit" }
        @if let Some(company) = &log.company {
            p.subtitle { "of " (parts::company(company)) }
        }
        (forms::filter(path, query, &["actor", "action", "company"], &fields))
        @if !log.list.rows.is_empty() {
            (table(&log.list.rows, true))
        } @else if is_narrowed {
            (parts::nothing("Nothing was done that is like that."))
        } @else {
            (parts::nothing("Nothing was done yet."))
        }
        (parts::cursors(&log.list, query, path))
        (parts::commands(&[
            ("Check that nothing was removed or changed", "guerdon verify".to_owned()),
            ("Seal what is committed, and print the head of the chain", "guerdon seal".to_owned()),
        ]))
    };
    frame::page(frame, At::Front(Section::Audit), "Audit", &main)
}

/// Renders entries, newest first. A table for one company omits the company.
pub(super) fn table(all: &[AuditEntry], with_company: bool) -> Markup {
    let rows = html! {
        @for it in all {
            tr {
                th scope="row" { (times::moment(it.at)) }
                td.name { (actor(&it.actor)) }
                td { (it.action) }
                @if with_company {
                    td.name { @if let Some(it) = &it.company { (parts::company(it)) } @else { span.soft { "–" } } }
                }
                td.wrap { (it.detail) @if let Some(object) = &it.object { br; code.soft { (object) } } }
            }
        }
    };
    let head = html! {
        (parts::headings(&["At", "Actor", "Action"]))
        @if with_company { (parts::headings(&["Company"])) }
        (parts::headings(&["Detail, and what was acted on"]))
    };
    parts::table("Actions, newest first", &head, &rows)
}

fn actor(actor: &Actor) -> Markup {
    html! {
        span.soft { (actor.kind()) } " "
        @match actor {
            Actor::Provider(it) => (parts::provider(it)),
            Actor::Operator(user) => (user),
            Actor::Schedule(id) => code { (id) },
        }
    }
}
