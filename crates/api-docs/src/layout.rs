//! The frame around every page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::example_groups::LANGUAGES;
use crate::page::{Group, Page};
use crate::script::SCRIPT;

/// What a frame shows besides the contents.
pub(crate) struct Framed<'a> {
    pub(crate) path: &'a str,
    pub(crate) title: &'a str,
    pub(crate) main: &'a Markup,
    /// The page, if the contents list it.
    pub(crate) page: Option<&'a Page>,
}

pub(crate) fn render_frame(pages: &[Page], framed: &Framed<'_>) -> Markup {
    let is_reference = framed.page.is_some_and(|page| page.group == Group::Reference);
    let position = pages.iter().position(|page| page.path == framed.path);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (framed.title) " · Guerdon" }
                link rel="stylesheet" href="/docs/style.css";
                link rel="icon" type="image/svg+xml" href="/docs/icon.svg";
                @if let Some(page) = framed.page {
                    link rel="alternate" type="text/markdown" href=(format!("{}.md", page.path));
                }
            }
            body {
                a.skip href="#main" { "Skip to content" }
                (render_header())
                div.frame {
                    nav.contents aria-label="Contents" {
                        // Expanded on wide screens by the style sheet.
                        details.menu {
                            summary { "Contents" }
                            (render_links(pages, framed.path))
                        }
                        div.wide { (render_links(pages, framed.path)) }
                    }
                    main #main tabindex="-1" class=[is_reference.then_some("reference")] {
                        @if let Some(page) = framed.page { (render_breadcrumbs(page)) }
                        @if framed.page.is_some_and(|page| page.has_examples) { (render_language_switch()) }
                        (framed.main)
                        @if let Some(position) = position { (render_neighbours(pages, position)) }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The search field stays hidden until the script shows it, because it does nothing without the script.
fn render_header() -> Markup {
    html! {
        header {
            a.name href="/docs" { "Guerdon" }
            span { "for integrators" }
            div.search role="search" hidden {
                input #search type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" aria-controls="results";
                div #results role="region" aria-label="Search results" aria-live="polite" hidden {}
            }
            a.file href="/openapi.json" { "openapi.json" }
        }
    }
}

fn render_breadcrumbs(page: &Page) -> Markup {
    html! {
        nav.breadcrumbs aria-label="Breadcrumbs" {
            ol {
                li { a href="/docs" { "Documentation" } }
                li { (page.group.title()) }
                li aria-current="page" { (page.title) }
            }
        }
    }
}

/// One switch for all examples of a page. The style sheet hides the other languages; the script remembers the choice.
fn render_language_switch() -> Markup {
    html! {
        fieldset.languages {
            legend { "Examples in" }
            @for (number, (language, name)) in LANGUAGES.iter().enumerate() {
                @let id = format!("language-{language}");
                input type="radio" name="language" id=(id) value=(language) checked[number == 0];
                label for=(id) { (name) }
            }
        }
    }
}

fn render_neighbours(pages: &[Page], position: usize) -> Markup {
    let previous = position.checked_sub(1).and_then(|before| pages.get(before));
    let next = pages.get(position + 1);
    html! {
        nav.neighbours aria-label="Previous and next page" {
            @if let Some(page) = previous { a.previous rel="prev" href=(page.path) { span { "Previous" } " " (page.title) } }
            @if let Some(page) = next { a.next rel="next" href=(page.path) { span { "Next" } " " (page.title) } }
        }
    }
}

fn render_links(pages: &[Page], path: &str) -> Markup {
    html! {
        @for group in Group::ALL {
            p.heading { (group.title()) }
            ul {
                @for page in pages.iter().filter(|page| page.group == group) {
                    @let is_current = page.path == path;
                    li {
                        a href=(page.path) aria-current=[is_current.then_some("page")] { (page.title) }
                        @if is_current && page.main_sections().next().is_some() {
                            ul.sections {
                                @for section in page.main_sections() {
                                    li { a href=(format!("#{}", section.id)) { (section.title) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
