#![doc = include_str!("../README.md")]

mod curl;
mod forms;
mod guides;
mod layout;
mod reference;

use maud::{Markup, html};
use serde_json::Value;

/// A rendered page.
#[derive(Debug, Clone)]
pub struct Page {
    /// Such as `/docs`.
    pub path: String,
    /// With its charset.
    pub content_type: &'static str,
    pub body: String,
}

const HTML: &str = "text/html; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// The path of the page that is served for unknown paths.
pub const NOT_FOUND_PATH: &str = "/404";

/// Renders all pages: the guides, the reference of an OpenAPI 3.1 description, the files that they link to, the style
/// sheet, and the page for unknown paths.
pub fn pages(description: &Value) -> Vec<Page> {
    let chapters = reference::chapters(description);
    let contents = layout::Contents {
        guides: guides::GUIDES.iter().map(|guide| (guide.path(), guide.title.to_owned())).collect(),
        chapters: chapters.iter().map(|chapter| (chapter.path(), chapter.name.clone())).collect(),
    };
    let page = |path: String, title: &str, main| Page {
        body: layout::page(&contents, &path, title, &main).into_string(),
        path,
        content_type: HTML,
    };
    let mut pages = vec![page("/docs".to_owned(), "Guerdon for integrators", guides::start(&contents))];
    pages.extend(
        guides::GUIDES.iter().map(|guide| page(guide.path(), guide.title, guides::render(guide.text))),
    );
    pages.extend(
        chapters
            .iter()
            .map(|chapter| page(chapter.path(), &chapter.name, reference::render(chapter, description))),
    );
    pages.push(page(NOT_FOUND_PATH.to_owned(), "Page not found", not_found()));
    pages.extend(guides::FILES.iter().map(|(name, text)| Page {
        path: format!("/docs/files/{name}"),
        content_type: PLAIN,
        body: (*text).to_owned(),
    }));
    pages.push(Page {
        path: "/docs/style.css".to_owned(),
        content_type: "text/css; charset=utf-8",
        body: include_str!("style.css").to_owned(),
    });
    pages
}

fn not_found() -> Markup {
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
