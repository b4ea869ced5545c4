//! The guides, and the files that they link to.

use maud::{Markup, html};

use crate::page::{Group, Page};

/// A guide: its path, its title, a one-line summary and its Markdown.
pub(crate) struct Guide {
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! guides {
    ($($path:literal, $title:literal, $summary:literal, $file:literal;)+) => {
        pub(crate) const GUIDES: &[Guide] = &[
            $(Guide {
                path: $path,
                title: $title,
                summary: $summary,
                text: include_str!(concat!("../../../docs/", $file)),
            },)+
        ];
        /// The file name of each guide, for links from other files.
        const GUIDE_FILES: &[(&str, &str)] = &[$(($file, $path),)+];
    };
}

guides! {
    "/docs/guides/start", "Quickstart", "Send points and verify a webhook in ten minutes.", "guides/start.md";
    "/docs/guides/roles", "You and the operator", "Responsibilities, and what to request from the operator.", "guides/roles.md";
    "/docs/guides/certificates", "TLS certificates", "How to trust the certificate in curl, Python and JavaScript.", "guides/certificates.md";
    "/docs/guides/money", "Wallets, rates and reasons", "How points are valued, who pays, and why a balance changes.", "guides/money.md";
    "/docs/guides/repeating", "Errors and retries", "Which requests to retry, and idempotency keys.", "guides/repeating.md";
    "/docs/errors", "Error codes", "Every code, its cause, and what to do.", "guides/errors.md";
    "/docs/guides/webhooks", "Receiving events", "Signatures, retries, and complete receivers.", "receiving-events.md";
    "/docs/guides/limits", "Limits", "Sizes, rates and times.", "guides/limits.md";
    "/docs/guides/versions", "Versions", "What can change, and how it is announced.", "guides/versions.md";
    "/docs/guides/glossary", "Glossary", "The terms of this documentation.", "guides/glossary.md";
    "/docs/guides/rules", "API behaviour", "The complete behaviour of the API in numbered paragraphs.", "specified-behaviour.md";
    "/docs/changelog", "Changelog", "What changed in each version.", "../CHANGELOG.md";
}

/// Complete programs that guides link to.
pub(crate) const PROGRAM_FILES: &[(&str, &str)] = &[
    ("receiver.py", include_str!("../../../docs/receivers/receiver.py")),
    ("receiver.mjs", include_str!("../../../docs/receivers/receiver.mjs")),
    ("client.py", include_str!("../../../docs/clients/client.py")),
    ("client.mjs", include_str!("../../../docs/clients/client.mjs")),
];

/// Renders the first page; `pages` are all others.
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

/// Returns the page for a link to a file in docs/; `None` for a link to another site or to another file of the
/// repository.
pub(crate) fn resolve_link(link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let file = file.trim_start_matches("../");
    let is_match = |guide_file: &str| guide_file == file || guide_file.rsplit('/').next() == Some(file);
    let page =
        GUIDE_FILES.iter().find(|(guide_file, _)| is_match(guide_file)).map(|(_, path)| (*path).to_owned());
    let name = file.rsplit('/').next().unwrap_or_default();
    let page = page.or_else(|| {
        PROGRAM_FILES.iter().find(|(file, _)| *file == name).map(|(file, _)| format!("/docs/files/{file}"))
    })?;
    Some(anchor.map_or_else(|| page.clone(), |anchor| format!("{page}#{anchor}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_lead_to_pages() {
        let check = |link: &str, expected: Option<&str>| {
            assert_eq!(resolve_link(link).as_deref(), expected, "{link}")
        };
        check("money.md", Some("/docs/guides/money"));
        check("../receiving-events.md#twice", Some("/docs/guides/webhooks#twice"));
        check("receivers/receiver.py", Some("/docs/files/receiver.py"));
        check("../clients/client.mjs", Some("/docs/files/client.mjs"));
        check("../../CHANGELOG.md", Some("/docs/changelog"));
        check("https://example.com/", None);
        check("operating.md", None);
        check("#here", None);
    }
}
