//! Renders the guides from Markdown.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html as rendered};

use crate::layout::Contents;

/// A guide: its name in the URL, its title, a one-line summary and its Markdown.
pub(crate) struct Guide {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    about: &'static str,
    pub(crate) text: &'static str,
}

impl Guide {
    pub(crate) fn path(&self) -> String {
        format!("/docs/guides/{}", self.name)
    }
}

macro_rules! guides {
    ($($name:literal, $title:literal, $about:literal, $file:literal;)+) => {
        pub(crate) const GUIDES: &[Guide] = &[
            $(Guide {
                name: $name,
                title: $title,
                about: $about,
                text: include_str!(concat!("../../../docs/", $file)),
            },)+
        ];
        /// The file name of each guide, for links from other files.
        const PLACES: &[(&str, &str)] = &[$(($file, $name),)+];
    };
}

guides! {
    "start", "Quickstart", "Send points and verify a webhook in ten minutes.", "guides/start.md";
    "roles", "You and the operator", "Responsibilities, and what to request from the operator.", "guides/roles.md";
    "certificates", "TLS certificates", "How to trust the certificate in curl, Python and JavaScript.", "guides/certificates.md";
    "money", "Wallets, rates and reasons", "How points are valued, who pays, and why a balance changes.", "guides/money.md";
    "repeating", "Errors and retries", "Which requests to retry, and idempotency keys.", "guides/repeating.md";
    "webhooks", "Receiving events", "Signatures, retries, and complete receivers.", "receiving-events.md";
    "limits", "Limits", "Sizes, rates and times.", "guides/limits.md";
    "versions", "Versions", "What can change, and how it is announced.", "guides/versions.md";
    "glossary", "Glossary", "The terms of this documentation.", "guides/glossary.md";
    "rules", "API behaviour", "The complete behaviour of the API in numbered paragraphs.", "specified-behaviour.md";
}

/// Complete programs that guides link to.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("receiver.py", include_str!("../../../docs/receivers/receiver.py")),
    ("receiver.mjs", include_str!("../../../docs/receivers/receiver.mjs")),
    ("client.py", include_str!("../../../docs/clients/client.py")),
    ("client.mjs", include_str!("../../../docs/clients/client.mjs")),
];

/// Renders the first page.
pub(crate) fn start(contents: &Contents) -> Markup {
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
        h2 { "Guides" }
        ul.cards {
            @for guide in GUIDES {
                li { a href=(guide.path()) { (guide.title) } p { (guide.about) } }
            }
        }
        h2 { "Reference" }
        ul {
            @for (path, name) in &contents.chapters {
                li { a href=(path) { (name) } }
            }
        }
    }
}

/// Renders a guide as HTML. Headings have anchors, tables and code blocks scroll, and links lead to pages.
pub(crate) fn render(text: &str) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut heading: Option<usize> = None;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                heading = Some(events.len());
                events.push(event);
            }
            Event::End(TagEnd::Heading(level)) => {
                if let Some(start) = heading.take() {
                    let id = anchor(events.get(start + 1..).unwrap_or_default());
                    if let Some(begun) = events.get_mut(start) {
                        *begun = Event::Html(format!("<{level} id=\"{id}\">").into());
                    }
                }
                events.push(Event::Html(format!("</{level}>\n").into()));
            }
            Event::Start(Tag::Table(columns)) => {
                events.push(Event::Html("<div class=\"table\">".into()));
                events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                events.push(event);
                events.push(Event::Html("</div>\n".into()));
            }
            Event::Start(Tag::CodeBlock(kind)) => events.push(Event::Html(listing(&kind).into())),
            Event::End(TagEnd::CodeBlock) => events.push(Event::Html("</code></pre>\n".into())),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = target(&dest_url).map_or(dest_url, CowStr::from);
                events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            other => events.push(other),
        }
    }
    let mut page = String::new();
    rendered::push_html(&mut page, events.into_iter());
    PreEscaped(page)
}

/// A code block can be focused, so that it can be scrolled with the keyboard.
fn listing(kind: &CodeBlockKind<'_>) -> String {
    let language = match kind {
        CodeBlockKind::Fenced(language) if language.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            language.as_ref()
        }
        _ => "",
    };
    format!("<pre tabindex=\"0\"><code class=\"{language}\">")
}

/// Returns the anchor of a heading, as common Markdown hosts create it.
fn anchor(heading: &[Event<'_>]) -> String {
    let text = heading.iter().filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    let kept = text.collect::<String>().to_lowercase();
    let kept =
        kept.chars().filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'));
    kept.map(|character| if character == ' ' { '-' } else { character }).collect()
}

/// Returns the page for a link to a file in docs/; `None` for a link to another site or to another file of the
/// repository.
fn target(link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let file = file.trim_start_matches("../");
    let fits = |place: &str| place == file || place.rsplit('/').next() == Some(file);
    let page = PLACES.iter().find(|(place, _)| fits(place)).map(|(_, name)| format!("/docs/guides/{name}"));
    let name = file.rsplit('/').next().unwrap_or_default();
    let page = page.or_else(|| {
        FILES.iter().find(|(file, _)| *file == name).map(|(file, _)| format!("/docs/files/{file}"))
    })?;
    Some(anchor.map_or_else(|| page.clone(), |anchor| format!("{page}#{anchor}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_lead_to_pages() {
        let check =
            |link: &str, expected: Option<&str>| assert_eq!(target(link).as_deref(), expected, "{link}");
        check("money.md", Some("/docs/guides/money"));
        check("../receiving-events.md#twice", Some("/docs/guides/webhooks#twice"));
        check("receivers/receiver.py", Some("/docs/files/receiver.py"));
        check("../clients/client.mjs", Some("/docs/files/client.mjs"));
        check("https://example.com/", None);
        check("operating.md", None);
        check("#here", None);
    }

    #[test]
    fn headings_can_be_linked_to_and_tables_scroll() {
        let page = render("## Is it `genuine`?\n\n| a |\n|---|\n| b |\n\n```sh\nls\n```\n").into_string();
        assert!(page.contains("<h2 id=\"is-it-genuine\">"), "{page}");
        assert!(page.contains("<div class=\"table\"><table>"), "{page}");
        assert!(page.contains("<pre tabindex=\"0\"><code class=\"sh\">ls"), "{page}");
    }
}
