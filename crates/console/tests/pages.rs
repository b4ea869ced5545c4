//! Rules that every console page must satisfy.

mod samples;

use std::collections::HashSet;

use guerdon_console::{CONTENT_SECURITY_POLICY, STYLE, STYLE_PATH};

/// The value of each occurrence of these attributes.
fn attribute_values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    page.split(&format!(" {attribute}=\"")).skip(1).filter_map(|part| part.split('"').next()).collect()
}

#[test]
fn pages_load_only_the_style_sheet_and_escape_all_values() {
    for sample in samples::render_samples() {
        let (name, page) = (sample.name, sample.page);
        assert_eq!(page.matches("<link ").count(), 1, "{name}");
        assert!(page.contains(&format!("<link rel=\"stylesheet\" href=\"{STYLE_PATH}\">")), "{name}");
        for forbidden in
            ["<script", "<style", "<img", "<b>", " style=\"", " onclick", "javascript:", " src=\"", "NaN"]
        {
            assert!(!page.contains(forbidden), "{name} holds {forbidden}");
        }
    }
    let companies = samples::render_samples().into_iter().find(|sample| sample.name == "companies").unwrap();
    assert!(companies.page.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; Sons"));
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    assert!(CONTENT_SECURITY_POLICY.starts_with("default-src 'none'; style-src 'self'"));
}

#[test]
fn pages_are_accessible_to_screen_readers() {
    for sample in samples::render_samples() {
        let (name, page) = (sample.name, sample.page);
        assert_eq!(page.matches("<h1").count(), 1, "{name}");
        assert!(page.contains("<html lang=\"en\">") && page.contains("href=\"#main\""), "{name}");
        assert_eq!(
            page.matches("<th ").count(),
            page.matches(" scope=\"").count(),
            "{name}: headers with a scope"
        );
        assert!(!page.contains("<th>"), "{name}");
        assert_eq!(page.matches("<svg").count(), page.matches(" role=\"img\"").count(), "{name}");
        for picture in page.split("<svg").skip(1) {
            assert!(picture.split_once('>').is_some_and(|(_, inner)| inner.starts_with("<title>")), "{name}");
        }
        assert_eq!(
            page.matches("class=\"table\"").count(),
            page.matches("role=\"region\"").count(),
            "{name}"
        );
        let boxes = page.matches("class=\"table\"").count() + page.matches("<pre").count();
        assert_eq!(boxes, page.matches(" tabindex=\"0\"").count(), "{name}: scrollable boxes are focusable");
        let labelled = attribute_values(&page, "aria-labelledby");
        let ids = attribute_values(&page, "id");
        assert!(labelled.iter().all(|id| ids.contains(id)), "{name}");
        let unique: HashSet<_> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len(), "{name}: {ids:?}");
    }
}

#[test]
fn every_link_leads_to_a_console_page() {
    let places = [
        "/companies",
        "/providers",
        "/users",
        "/events",
        "/schedules",
        "/audit",
        "/search",
        "/requests",
        STYLE_PATH,
    ];
    for sample in samples::render_samples() {
        let (name, page) = (sample.name, sample.page);
        let ids = attribute_values(&page, "id");
        for link in attribute_values(&page, "href") {
            let (path, anchor) =
                link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
            let path = path.split('?').next().unwrap_or_default();
            let below = |place: &&str| {
                path.strip_prefix(*place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            assert!(["", "/"].contains(&path) || places.iter().any(below), "{name} links to {link}");
            assert!(anchor.is_none_or(|anchor| ids.contains(&anchor)), "{name} links to {link}");
        }
    }
}

#[test]
fn navigation_marks_the_current_page() {
    for sample in samples::render_samples() {
        let nav = sample.page.split("</nav>").next().unwrap_or_default();
        let expected =
            usize::from(!["missing", "failed"].contains(&sample.name) && !sample.name.starts_with("search"));
        assert_eq!(nav.matches("aria-current=").count(), expected, "{}", sample.name);
    }
}

#[test]
fn event_pages_hide_personal_data() {
    let event = samples::render_samples().into_iter().find(|sample| sample.name == "event").unwrap();
    for hidden in ["Ada", "ada@example.com", "secret words"] {
        assert!(!event.page.contains(hidden), "{hidden}");
    }
    assert!(event.page.contains("&quot;points&quot;: 20"));
}

#[test]
fn sorting_keeps_the_filters_and_returns_to_the_first_page() {
    let companies = samples::render_samples().into_iter().find(|sample| sample.name == "companies").unwrap();
    let links = attribute_values(&companies.page, "href");
    assert!(links.contains(&"/companies?sort=reserve&amp;order=desc"), "the order is reversed: {links:?}");
    assert!(
        links.contains(&"/companies?sort=users&amp;order=desc"),
        "numbers are sorted in descending order first"
    );
    assert!(links.contains(&"/companies?sort=name&amp;order=asc"));
    assert!(links.contains(&"/companies?sort=reserve&amp;order=asc&amp;page=4"));
    assert!(companies.page.contains("aria-sort=\"ascending\""));
    assert!(companies.page.contains("101–150 of 1,234"));
    let beyond =
        samples::render_samples().into_iter().find(|sample| sample.name == "companies_beyond").unwrap();
    assert!(
        attribute_values(&beyond.page, "href").contains(&"/companies?page=3"),
        "links back to the last page"
    );
}

#[test]
fn log_pagination_keeps_the_filters() {
    let events = samples::render_samples().into_iter().find(|sample| sample.name == "events").unwrap();
    let provider = "provider=01a1fdd4%2D8a51%2D741c%2Da29d%2D000000000001";
    let older = format!("/events?state=exhausted&amp;{provider}&amp;before=older%3D1");
    assert!(
        attribute_values(&events.page, "href").contains(&older.as_str()),
        "{:?}",
        attribute_values(&events.page, "href")
    );
}
