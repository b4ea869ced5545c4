//! The frame around every page.

use maud::{DOCTYPE, Markup, html};

/// The paths and titles of all pages.
pub(crate) struct Contents {
    pub(crate) guides: Vec<(String, String)>,
    pub(crate) chapters: Vec<(String, String)>,
}

pub(crate) fn page(contents: &Contents, path: &str, title: &str, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Guerdon" }
                link rel="stylesheet" href="/docs/style.css";
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header {
                    a.name href="/docs" { "Guerdon" }
                    span { "for integrators" }
                    a.file href="/openapi.json" { "openapi.json" }
                }
                div.frame {
                    nav aria-label="Contents" {
                        // Expanded on wide screens by the style sheet.
                        details.menu {
                            summary { "Contents" }
                            (links(contents, path))
                        }
                        div.wide { (links(contents, path)) }
                    }
                    main #main tabindex="-1" { (main) }
                }
            }
        }
    }
}

fn links(contents: &Contents, path: &str) -> Markup {
    html! {
        @for (heading, all) in [("Guides", &contents.guides), ("Reference", &contents.chapters)] {
            p.heading { (heading) }
            ul {
                @for (target, title) in all {
                    li { a href=(target) aria-current=[(target == path).then_some("page")] { (title) } }
                }
            }
        }
    }
}
