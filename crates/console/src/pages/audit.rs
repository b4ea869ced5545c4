//! The audit log.

use maud::{Markup, html};

use crate::components;
use crate::forms;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{Actor, AuditEntry, AuditLog, CompanyFilterResult, ObjectReference};
use crate::query::Query;
use crate::time_format;

const PARAMETERS: [&str; 5] = ["actor", "action", "company", "provider", "recognitions"];

/// The filter of audit entries: `?actor=operator&action=reserve.deposit&company=acme.example`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The kind of an [`Actor`].
    pub actor: Option<String>,
    pub action: Option<String>,
    /// An id, a domain or a part of a name, as requested.
    pub company: Option<String>,
    /// An id as requested, not validated.
    pub provider: Option<String>,
    /// Whether recognitions, which are most of the entries, are listed.
    pub with_recognitions: bool,
}

impl AuditFilter {
    pub fn from_query(query: &Query) -> Self {
        let parameter = |name| query.get(name).map(str::to_owned);
        let actor = parameter("actor").filter(|kind| Actor::KINDS.contains(&kind.as_str()));
        Self {
            actor,
            action: parameter("action"),
            company: parameter("company"),
            provider: parameter("provider"),
            with_recognitions: query.get("recognitions") == Some("shown"),
        }
    }
}

/// Renders a section of the log.
pub fn render_page(log: &AuditLog, query: &Query, frame: &Frame) -> String {
    let path = Section::Audit.path();
    let filter = AuditFilter::from_query(query);
    let main = html! {
        h1 { "Audit" }
        @if let CompanyFilterResult::One(company) = &log.company {
            p.subtitle { "of " (components::company_link(company)) }
        }
        (forms::filter_form(path, query, &PARAMETERS, &filter_fields(log, query)))
        @if !filter.with_recognitions && filter.action.is_none() {
            p.soft {
                "Sent recognitions are not listed. "
                a href=(query.without_parameters(&["before"]).with_parameter("recognitions", "shown").to_link(path)) { "Show them too" }
            }
        }
        (render_log(log, &filter, query))
        (components::cursor_links(&log.list, query, path))
        (components::command_list(&[
            ("Verify that no entry was removed or changed", "guerdon verify".to_owned()),
            ("Seal the committed entries, and print the head of the hash chain", "guerdon seal".to_owned()),
        ]))
    };
    frame::render_frame(frame, PagePosition::Front(Section::Audit), "Audit", &main)
}

fn filter_fields(log: &AuditLog, query: &Query) -> Markup {
    let actions: Vec<(&str, &str)> =
        log.actions.iter().map(|action| (action.as_str(), action.as_str())).collect();
    let providers: Vec<(&str, &str)> =
        log.providers.iter().map(|provider| (provider.id.as_str(), provider.name.as_str())).collect();
    html! {
        (forms::select_field("Actor", "actor", &Actor::KINDS.map(|kind| (kind, kind)), query))
        (forms::select_field("Action", "action", &actions, query))
        (forms::text_field("Company: domain, name or id", "company", query))
        (forms::select_field("Provider", "provider", &providers, query))
        (forms::checkbox("Recognitions", "recognitions", "shown", query))
    }
}

fn render_log(log: &AuditLog, filter: &AuditFilter, query: &Query) -> Markup {
    match &log.company {
        CompanyFilterResult::Several(companies) => {
            let link = |company: &ObjectReference| {
                query
                    .without_parameters(&["before"])
                    .with_parameter("company", &company.id)
                    .to_link(Section::Audit.path())
            };
            html! {
                p { "Several companies match. Select one:" }
                ul { @for company in companies { li { a href=(link(company)) { (company.name) } } } }
            }
        }
        CompanyFilterResult::Unknown => components::empty_message("No company has this id, domain or name."),
        _ if !log.list.rows.is_empty() => entry_table(&log.list.rows, true),
        _ if *filter != AuditFilter::default() => components::empty_message("No action matches the filter."),
        _ => components::empty_message("No action has been recorded."),
    }
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
                td.wrap { (entry.detail) @if let Some(object) = &entry.object { br; a.id href={ "/search?q=" (object) } { (object) } } }
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
