//! The two lists of all pages: the start page, and the index in Markdown.

use maud::{Markup, html};

use crate::guides::PROGRAM_FILES;
use crate::page::{Group, Page};

/// Renders the start page; `pages` are all other pages.
pub(crate) fn render_start_page(pages: &[Page]) -> Markup {
    html! {
        h1 { "Guerdon for integrators" }
        p {
            "The API manages companies, users, recognitions and points over HTTPS and JSON, and notifies your service of \
             events by signed webhooks. Start with the "
            a href="/docs/guides/start" { "quickstart" }
            ", look up fields in the reference, and generate a client from "
            a href="/openapi.json" { "openapi.json" }
            "."
        }
        @for group in Group::ALL {
            h2 { (group.title()) }
            ul.cards {
                @for page in pages.iter().filter(|page| page.group == group) {
                    li { a href=(page.path) { (page.title) } p { (page.summary) } }
                }
            }
        }
        p { "All pages also exist as Markdown: see " a href="/llms.txt" { "llms.txt" } "." }
    }
}

/// Returns the index of all pages in Markdown, in the form of <https://llmstxt.org>.
pub(crate) fn write_index(pages: &[Page]) -> String {
    let mut text = "# Guerdon for integrators\n\n> The API manages companies, users, recognitions and points over \
                    HTTPS and JSON, and notifies your service of events by signed webhooks.\n\n\
                    Every page is also HTML, under the same address without `.md`. The OpenAPI 3.1 description of the \
                    API is [openapi.json](/openapi.json).\n"
        .to_owned();
    for group in Group::ALL {
        text.push_str(&format!("\n## {}\n\n", group.title()));
        for page in pages.iter().filter(|page| page.group == group) {
            text.push_str(&format!("- [{}]({}.md): {}\n", page.title, page.path, page.summary));
        }
    }
    text.push_str("\n## Programs\n\n");
    for (name, _text) in PROGRAM_FILES {
        text.push_str(&format!("- [{name}](/docs/files/{name})\n"));
    }
    text
}
