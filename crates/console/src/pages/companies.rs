//! The table of companies.

use std::cmp::Ordering;

use maud::{Markup, html};

use crate::forms;
use crate::frame::{self, At, Frame, Section};
use crate::listing::{Column, Listing, by_letters};
use crate::model::{Companies, CompanyRow, Reserve};
use crate::numbers;
use crate::parts::{self, Tone};
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

    fn name(self) -> &'static str {
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

    fn compare(self, a: &CompanyRow, b: &CompanyRow) -> Ordering {
        match self {
            Self::Name => by_letters(&a.name, &b.name),
            Self::Domain => a.domain.cmp(&b.domain),
            Self::Provider => by_letters(&a.provider.name, &b.provider.name),
            Self::Users => a.users.cmp(&b.users),
            Self::Reserve => a.reserve.points.cmp(&b.reserve.points),
            Self::Recognitions => a.recognitions_30d.cmp(&b.recognitions_30d),
        }
    }
}

/// The filter of companies: `?q=acme&reserve=low`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyFilter {
    /// A part of the name or the domain in any case, or a whole id.
    pub text: Option<String>,
    /// Only those whose reserve is below its threshold.
    pub is_low_only: bool,
}

impl CompanyFilter {
    pub fn read(query: &Query) -> Self {
        Self { text: query.get("q").map(str::to_owned), is_low_only: query.get("reserve") == Some("low") }
    }

    /// Whether a company matches, for callers that have all companies in memory.
    pub fn admits(&self, company: &CompanyRow) -> bool {
        let is_named = self.text.as_deref().map(str::to_lowercase).is_none_or(|text| {
            company.name.to_lowercase().contains(&text)
                || company.domain.contains(&text)
                || company.id.to_lowercase() == text
        });
        is_named && (!self.is_low_only || company.reserve.is_low())
    }
}

/// Renders the table.
pub fn page(companies: &Companies, query: &Query, frame: &Frame) -> String {
    let path = Section::Companies.path();
    let list = &companies.list;
    let is_narrowed = CompanyFilter::read(query) != CompanyFilter { text: None, is_low_only: false };
    let listing = Listing::<CompanyColumn>::read(query);
    let fields = html! {
        (forms::text("Name, domain or id", "q", query))
        (forms::choice("Reserve", "reserve", &[("low", "below its threshold")], query))
    };
    let main = html! {
        h1 { "Companies" }
        (forms::filter(path, query, &["q", "reserve"], &fields))
        @if list.total > 0 {
            (table(companies, &listing, query))
            (parts::pages(&listing, list, query, path))
        } @else if is_narrowed {
            (parts::nothing("No company is like that."))
        } @else {
            (parts::nothing("There is no company yet. Providers make them over the API."))
        }
        (parts::commands(&[
            ("Put points into a reserve", "guerdon reserve deposit COMPANY_ID --points 100000 --key KEY".to_owned()),
            ("List all companies of a provider", "guerdon company list --provider PROVIDER_ID".to_owned()),
        ]))
    };
    frame::page(frame, At::Front(Section::Companies), "Companies", &main)
}

fn table(companies: &Companies, listing: &Listing<CompanyColumn>, query: &Query) -> Markup {
    let path = Section::Companies.path();
    let head = html! { @for column in CompanyColumn::ALL { (parts::sorted(listing, query, path, *column)) } };
    let rows = html! {
        @for it in &companies.list.rows {
            tr {
                th.name scope="row" { a href={ "/companies/" (it.id) } { (it.name) } }
                td { (it.domain) }
                td.name { (parts::provider(&it.provider)) }
                td.number { (numbers::counted(it.users)) }
                td.number { (reserve(&it.reserve)) }
                td.number { (numbers::counted(it.recognitions_30d)) }
            }
        }
    };
    parts::table("Companies", &head, &rows)
}

fn reserve(reserve: &Reserve) -> Markup {
    html! {
        @if reserve.is_low() { (parts::badge(Tone::Warn, "low")) " " }
        (numbers::grouped(reserve.points))
    }
}
