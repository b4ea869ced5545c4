//! Links between pages lead to existing pages and anchors.

use std::collections::HashSet;

use super::{Page, pages};

fn all() -> Vec<Page> {
    pages(&serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap())
}

/// Returns the values of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    page.split(&format!(" {attribute}=\"")).skip(1).filter_map(|part| part.split('"').next()).collect()
}

#[test]
fn every_link_leads_somewhere_and_nothing_comes_from_another_host() {
    let pages = all();
    let paths: HashSet<&str> = pages.iter().map(|page| page.path.as_str()).chain(["/openapi.json"]).collect();
    for page in pages.iter().filter(|page| page.content_type.starts_with("text/html")) {
        for link in values(&page.body, "href") {
            let (path, anchor) =
                link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { page.path.as_str() } else { path };
            let is_outside = path.starts_with("https://");
            assert!(is_outside || paths.contains(target), "{} links to {link}", page.path);
            if let (Some(anchor), false) = (anchor, is_outside) {
                let body = &pages.iter().find(|candidate| candidate.path == target).unwrap().body;
                assert!(values(body, "id").contains(&anchor), "{} links to {link}", page.path);
            }
        }
        assert!(values(&page.body, "src").is_empty(), "{}", page.path);
        for forbidden in ["<script", " style=\"", " onclick", "javascript:"] {
            assert!(!page.body.contains(forbidden), "{} holds {forbidden}", page.path);
        }
    }
}

#[test]
fn every_operation_has_its_place_and_its_line() {
    let description: serde_json::Value =
        serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
    let text: String = all()
        .into_iter()
        .filter(|page| page.path.starts_with("/docs/reference/"))
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
    assert_eq!(text.matches("<code class=\"curl\">").count(), count);
}

#[test]
fn no_id_stands_twice_on_a_page_and_each_has_one_first_heading() {
    for page in all().iter().filter(|page| page.content_type.starts_with("text/html")) {
        let ids = values(&page.body, "id");
        let unique: HashSet<_> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len(), "{}", page.path);
        assert_eq!(page.body.matches("<h1").count(), 1, "{}", page.path);
    }
}
