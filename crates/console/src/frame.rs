//! The frame around every page.

use maud::{DOCTYPE, Markup, html};
use time::OffsetDateTime;

use crate::time_format;

/// The path of the search page, to which the form in the header is sent.
pub const SEARCH_PATH: &str = "/search";

/// What every page shows about the service.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The time at which the page is rendered. Ages on the page are relative to this time.
    pub now: OffsetDateTime,
    /// The host of `service_url`, which identifies the service.
    pub instance: String,
    pub version: String,
    /// Whether the API is in maintenance mode and responds with 503; `false` if the mode cannot be read.
    pub is_in_maintenance: bool,
    /// The path and query of this page, for the link that reloads it.
    pub reload_link: String,
}

/// The sections of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Companies,
    Providers,
    Events,
    Requests,
    Schedules,
    Audit,
}

impl Section {
    const ALL: [Self; 7] = [
        Self::Overview,
        Self::Companies,
        Self::Providers,
        Self::Events,
        Self::Requests,
        Self::Schedules,
        Self::Audit,
    ];

    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Overview => "/",
            Self::Companies => "/companies",
            Self::Providers => "/providers",
            Self::Events => "/events",
            Self::Requests => "/requests",
            Self::Schedules => "/schedules",
            Self::Audit => "/audit",
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Companies => "Companies",
            Self::Providers => "Providers",
            Self::Events => "Events",
            Self::Requests => "Requests",
            Self::Schedules => "Schedules",
            Self::Audit => "Audit",
        }
    }
}

/// The position of a page in the console: the front page of a section, a page below it, or outside all sections.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PagePosition {
    Front(Section),
    Below(Section),
    Outside,
}

impl PagePosition {
    /// Returns the value of `aria-current` for a link to this section.
    fn aria_current(self, section: Section) -> Option<&'static str> {
        match self {
            Self::Front(current) if current == section => Some("page"),
            Self::Below(current) if current == section => Some("true"),
            _ => None,
        }
    }
}

/// Renders the form that searches all objects. The form sends its text in the body of a request: the text may be an
/// email address, which must not appear in a URL, because browsers and proxies store URLs.
fn search_form() -> Markup {
    html! {
        form.search method="post" action=(SEARCH_PATH) role="search" aria-label="Everything" {
            label {
                span.unseen { "Search for a domain, name, id or email address" }
                input type="search" name="q" placeholder="Domain, name, id, email" autocomplete="off" spellcheck="false" maxlength="254";
            }
            button type="submit" { "Search" }
        }
    }
}

/// Renders a whole page. `main` begins with the only `h1`.
pub(crate) fn render_frame(frame: &Frame, at: PagePosition, title: &str, main: &Markup) -> String {
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · " (frame.instance) }
                link rel="stylesheet" href=(crate::STYLE_PATH);
            }
            body {
                a.skip href="#main" { "Skip to main content" }
                header {
                    p.name { a href="/" { "Guerdon" } " " span.instance { (frame.instance) } }
                    nav aria-label="Sections" {
                        ul {
                            @for section in Section::ALL {
                                li { a href=(section.path()) aria-current=[at.aria_current(section)] { (section.name()) } }
                            }
                        }
                    }
                    (search_form())
                }
                @if frame.is_in_maintenance {
                    p.banner { strong { "Maintenance is on." } " The API returns 503." }
                }
                main #main tabindex="-1" {
                    p.read { "As of " (time_format::render_time_of_day(frame.now)) " UTC. " a href=(frame.reload_link) { "Reload" } }
                    @if let PagePosition::Below(section) = at {
                        p.back { a href=(section.path()) { "← " (section.name()) } }
                    }
                    (main)
                }
                footer {
                    p { "Guerdon " (frame.version) ", page loaded at " (time_format::render_timestamp(frame.now)) " UTC." }
                    p { "All times are UTC. This console is read-only; use the commands to make changes." }
                }
            }
        }
    };
    whole.into_string()
}
