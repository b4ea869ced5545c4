//! Links between pages lead to existing pages and anchors.

use std::collections::HashSet;

use super::{DocsPage, render_pages};

fn render_all_pages() -> Vec<DocsPage> {
    render_pages(&serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap())
}

/// Returns the values of an attribute.
fn attribute_values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    page.split(&format!(" {attribute}=\"")).skip(1).filter_map(|part| part.split('"').next()).collect()
}

#[test]
fn links_lead_to_existing_pages_and_nothing_is_loaded_from_another_host() {
    let pages = render_all_pages();
    let paths: HashSet<&str> = pages.iter().map(|page| page.path.as_str()).chain(["/openapi.json"]).collect();
    for page in pages.iter().filter(|page| page.content_type.starts_with("text/html")) {
        for link in attribute_values(&page.body, "href") {
            let (path, anchor) =
                link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { page.path.as_str() } else { path };
            let is_outside = path.starts_with("https://");
            assert!(is_outside || paths.contains(target), "{} links to {link}", page.path);
            if let (Some(anchor), false) = (anchor, is_outside) {
                let body = &pages.iter().find(|candidate| candidate.path == target).unwrap().body;
                assert!(attribute_values(body, "id").contains(&anchor), "{} links to {link}", page.path);
            }
        }
        assert!(attribute_values(&page.body, "src").is_empty(), "{}", page.path);
        let (_, after_first_script) = page.body.split_once("<script>").unwrap();
        assert!(
            after_first_script.starts_with(crate::script::SCRIPT),
            "{}: the only script that the policy permits",
            page.path
        );
        for forbidden in ["<script", " style=\"", " onclick", "javascript:"] {
            assert!(
                !page.body.replacen("<script>", "", 1).contains(forbidden),
                "{} holds {forbidden}",
                page.path
            );
        }
    }
}

#[test]
fn a_search_for_a_synonym_finds_a_section() {
    let pages = render_all_pages();
    let index = &pages.iter().find(|page| page.path == "/docs/search.json").unwrap().body;
    let index: serde_json::Value = serde_json::from_str(index).unwrap();
    let text = index["sections"].to_string().to_lowercase();
    let words: HashSet<&str> = text.split(|character: char| !character.is_alphanumeric()).collect();
    for (synonym, targets) in index["synonyms"].as_object().unwrap() {
        for target in targets.as_array().unwrap().iter().filter_map(serde_json::Value::as_str) {
            assert!(words.iter().any(|word| word.starts_with(target)), "{synonym} leads to {target}");
        }
    }
}

#[test]
fn every_operation_has_an_anchor_and_an_example_in_each_language() {
    let description: serde_json::Value =
        serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
    let text: String = render_all_pages()
        .into_iter()
        .filter(|page| {
            page.path.starts_with("/docs/reference/") && page.content_type.starts_with("text/html")
        })
        .map(|page| page.body)
        .collect();
    let mut count = 0;
    for operations in description["paths"].as_object().unwrap().values() {
        for operation in operations.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(text.contains(&format!("id=\"{name}\"")), "{name}");
            count += 1;
        }
    }
    for language in ["sh", "python", "javascript"] {
        assert_eq!(text.matches(&format!("<code class=\"{language}\">")).count(), count, "{language}");
    }
}

#[test]
fn ids_are_unique_on_a_page_and_each_page_has_one_main_heading() {
    for page in render_all_pages().iter().filter(|page| page.content_type.starts_with("text/html")) {
        let ids = attribute_values(&page.body, "id");
        let unique: HashSet<_> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len(), "{}", page.path);
        assert_eq!(page.body.matches("<h1").count(), 1, "{}", page.path);
    }
}
