#![doc = include_str!("../README.md")]

mod error_causes;
mod errors;
mod event_types;
mod example_groups;
mod examples;
mod fields;
mod guides;
mod index;
mod layout;
mod markdown;
mod markdown_form;
mod operation;
mod page;
mod reference;
mod schemas;
mod script;
mod search;

use maud::{Markup, html};
use serde_json::Value;

use layout::{Framed, render_frame};
use page::{Group, Page};
pub use script::content_security_policy;

/// A rendered page.
#[derive(Debug, Clone)]
pub struct DocsPage {
    /// For example `/docs`.
    pub path: String,
    /// Including the charset.
    pub content_type: &'static str,
    pub body: String,
}

const HTML_CONTENT_TYPE: &str = "text/html; charset=utf-8";
const TEXT_CONTENT_TYPE: &str = "text/plain; charset=utf-8";
const MARKDOWN_CONTENT_TYPE: &str = "text/markdown; charset=utf-8";

/// The path of the page that is served for unknown paths.
pub const NOT_FOUND_PATH: &str = "/404";

/// Renders all pages: the guides, the reference of an OpenAPI 3.1 description, the event types, each also as Markdown;
/// the index of pages, the files that they link to, the style sheet, the search index, and the page for unknown paths.
pub fn render_pages(description: &Value) -> Vec<DocsPage> {
    let pages = collect_pages(description);
    let start = index::render_start_page(&pages);
    let index_text = index::write_index(&pages);
    let frame = |path: &str, title: &str, main: &Markup, page: Option<&Page>| {
        let body = render_frame(&pages, &Framed { path, title, main, page }).into_string();
        DocsPage { path: path.to_owned(), content_type: HTML_CONTENT_TYPE, body }
    };
    let mut rendered = vec![
        frame("/docs", "Guerdon for integrators", &start, None),
        frame(NOT_FOUND_PATH, "Page not found", &render_not_found(), None),
    ];
    rendered.extend(pages.iter().map(|page| frame(&page.path, &page.title, &page.html, Some(page))));
    let mut add_file = |path: String, content_type, body: &str| {
        rendered.push(DocsPage { path, content_type, body: body.to_owned() });
    };
    for page in &pages {
        add_file(format!("{}.md", page.path), MARKDOWN_CONTENT_TYPE, &page.markdown);
    }
    add_file("/docs.md".to_owned(), MARKDOWN_CONTENT_TYPE, &index_text);
    add_file("/llms.txt".to_owned(), TEXT_CONTENT_TYPE, &index_text);
    for (name, text) in guides::PROGRAM_FILES {
        add_file(format!("/docs/files/{name}"), TEXT_CONTENT_TYPE, text);
    }
    add_file("/docs/style.css".to_owned(), "text/css; charset=utf-8", include_str!("style.css"));
    add_file("/docs/icon.svg".to_owned(), "image/svg+xml", include_str!("icon.svg"));
    add_file("/docs/search.json".to_owned(), "application/json", &search::build_index(&pages));
    rendered
}

/// Returns the pages in the order of the contents.
fn collect_pages(description: &Value) -> Vec<Page> {
    let guides = guides::GUIDES.iter().map(|guide| {
        Page::from_markdown(Group::Guides, guide.path.to_owned(), guide.title, guide.summary, guide.text)
    });
    let mut pages: Vec<Page> = guides.collect();
    pages.extend(reference::render_chapters(description));
    pages.extend(event_types::render_event_types(description));
    pages
}

fn render_not_found() -> Markup {
    html! {
        h1 { "Page not found" }
        p {
            "There is no page at this address. The contents list all pages; start with the "
            a href="/docs" { "overview" }
            ". The API is under " code { "/v1" } "."
        }
    }
}

#[cfg(test)]
mod tests;
