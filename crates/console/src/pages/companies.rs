//! The table of companies.

use std::cmp::Ordering;

use maud::{Markup, html};

use crate::components::{self, Tone};
use crate::forms;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::listing::{Column, Listing, compare_ignoring_case};
use crate::model::{Companies, CompanyRow, Reserve};
use crate::numbers;
use crate::query::Query;

/// The columns that companies can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompanyColumn {
    Name,
    Domain,
    Provider,
    Users,
    Reserve,
    Recognitions,
}

impl Column for CompanyColumn {
    type Row = CompanyRow;
    const ALL: &'static [Self] =
        &[Self::Name, Self::Domain, Self::Provider, Self::Users, Self::Reserve, Self::Recognitions];

    fn sort_key(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Domain => "domain",
            Self::Provider => "provider",
            Self::Users => "users",
            Self::Reserve => "reserve",
            Self::Recognitions => "recognitions",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Name => "Company",
            Self::Domain => "Domain",
            Self::Provider => "Provider",
            Self::Users => "Users",
            Self::Reserve => "Reserve, points",
            Self::Recognitions => "Recognitions, 30 d",
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Users | Self::Reserve | Self::Recognitions)
    }

    fn compare_rows(self, a: &CompanyRow, b: &CompanyRow) -> Ordering {
        match self {
            Self::Name => compare_ignoring_case(&a.name, &b.name),
            Self::Domain => a.domain.cmp(&b.domain),
            Self::Provider => compare_ignoring_case(&a.provider.name, &b.provider.name),
            Self::Users => a.users.cmp(&b.users),
            Self::Reserve => a.reserve.points.cmp(&b.reserve.points),
            Self::Recognitions => a.recognitions_30d.cmp(&b.recognitions_30d),
        }
    }
}

/// The filter of companies: `?q=acme&reserve=low`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyFilter {
    /// A part of the name or the domain, ignoring case, or a complete id.
    pub text: Option<String>,
    /// Whether to show only companies whose reserve is below its threshold.
    pub is_low_only: bool,
}

impl CompanyFilter {
    pub fn from_query(query: &Query) -> Self {
        Self { text: query.get("q").map(str::to_owned), is_low_only: query.get("reserve") == Some("low") }
    }

    /// Whether a company matches, for callers that have all companies in memory.
    pub fn matches_company(&self, company: &CompanyRow) -> bool {
        let is_named = self.text.as_deref().map(str::to_lowercase).is_none_or(|text| {
            company.name.to_lowercase().contains(&text)
                || company.domain.contains(&text)
                || company.id.to_lowercase() == text
        });
        is_named && (!self.is_low_only || company.reserve.is_low())
    }
}

/// Renders the table.
pub fn render_page(companies: &Companies, query: &Query, frame: &Frame) -> String {
    let path = Section::Companies.path();
    let list = &companies.list;
    let is_filtered = CompanyFilter::from_query(query) != CompanyFilter { text: None, is_low_only: false };
    let listing = Listing::<CompanyColumn>::from_query(query);
    let fields = html! {
        (forms::text_field("Name, domain or id", "q", query))
        (forms::select_field("Reserve", "reserve", &[("low", "below its threshold")], query))
    };
    let main = html! {
        h1 { "Companies" }
        (forms::filter_form(path, query, &["q", "reserve"], &fields))
        @if list.total > 0 {
            (company_table(companies, &listing, query))
            (components::page_links(&listing, list, query, path))
        } @else if is_filtered {
            (components::empty_message("No company matches the filter."))
        } @else {
            (components::empty_message("There are no companies yet. Providers create them through the API."))
        }
        (components::command_list(&[
            ("Deposit points into a reserve", "guerdon reserve deposit COMPANY_ID --points 100000 --key KEY".to_owned()),
            ("List all companies of a provider", "guerdon company list --provider PROVIDER_ID".to_owned()),
        ]))
    };
    frame::render_frame(frame, PagePosition::Front(Section::Companies), "Companies", &main)
}

fn company_table(companies: &Companies, listing: &Listing<CompanyColumn>, query: &Query) -> Markup {
    let path = Section::Companies.path();
    let head = html! { @for column in CompanyColumn::ALL { (components::sortable_heading(listing, query, path, *column)) } };
    let rows = html! {
        @for company in &companies.list.rows {
            tr {
                th.name scope="row" { a href={ "/companies/" (company.id) } { (company.name) } }
                td { (company.domain) }
                td.name { (components::provider_link(&company.provider)) }
                td.number { (numbers::format_count(company.users)) }
                td.number { (render_reserve(&company.reserve)) }
                td.number { (numbers::format_count(company.recognitions_30d)) }
            }
        }
    };
    components::scrollable_table("Companies", &head, &rows)
}

fn render_reserve(reserve: &Reserve) -> Markup {
    html! {
        @if reserve.is_low() { (components::badge(Tone::Warn, "low")) " " }
        (numbers::format_integer(reserve.points))
    }
}
