//! The pages for integrators need no credentials, every example in them works, and browsers display them correctly.

mod clients;
mod errors;
mod snippets;

use base64::Engine as _;
use serde_json::Value;

use crate::support::browser::Browser;
use crate::support::service::TestService;
use crate::support::{create_any_database, for_each_database};

/// A page as the service returns it.
fn fetch_page(service: &TestService, path: &str) -> String {
    let response = service.running.send_request("GET", path, &[], None);
    assert_eq!(response.status, 200, "{path}: {}", response.body);
    response.body
}

/// Every documentation page in the order of the contents, found by the links of the first page.
fn fetch_all_pages(service: &TestService) -> Vec<(String, String)> {
    let first = fetch_page(service, "/docs");
    let links = first.split(" href=\"").skip(1).filter_map(|part| part.split('"').next());
    let mut paths = vec!["/docs".to_owned()];
    let is_page =
        |link: &&str| link.starts_with("/docs/") && !link.ends_with(".css") && !link.ends_with(".svg");
    for link in links.filter(is_page) {
        if !paths.iter().any(|path| path == link) {
            paths.push(link.to_owned());
        }
    }
    assert!(paths.len() > 19, "{paths:?}");
    paths.into_iter().map(|path| (path.clone(), fetch_page(service, &path))).collect()
}

#[test]
fn pages_are_public_and_permit_only_their_own_script() {
    for_each_database(|service| {
        let response = service.running.send_request("GET", "/docs", &[], None);
        let header =
            |name: &str| response.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert!(header("content-type").starts_with("text/html"), "{:?}", response.headers);
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'sha256-"), "{policy}");
        let script = response.body.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next());
        let digest = ring::digest::digest(&ring::digest::SHA256, script.unwrap().as_bytes());
        let hash = base64::engine::general_purpose::STANDARD.encode(digest);
        assert!(policy.contains(&format!("script-src 'sha256-{hash}';")), "{policy} does not permit {hash}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        let description = service.running.send_request("GET", "/openapi.json", &[], None);
        assert_eq!(description.headers["content-type"], "application/json");
        let served: Value = serde_json::from_str(&description.body).unwrap();
        let expected: Value = serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
        assert!(
            served == expected,
            "docs/openapi.json is not what the service serves: run `cargo xtask openapi`"
        );
        assert_eq!(service.run_json_command(&["openapi"]), expected);
        assert!(service.running.send_request("HEAD", "/docs", &[], None).body.is_empty());
        let refused = service.running.send_request("POST", "/docs", &[], None);
        assert_eq!((refused.status, refused.headers["allow"].to_str().unwrap()), (405, "GET, HEAD"));
        let (gzipped, encoding) =
            service.running.get_raw_body("/docs/guides/rules", &[("Accept-Encoding", "gzip")]);
        assert_eq!(encoding.as_deref(), Some("gzip"));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(gzipped.as_slice()), &mut text)
            .unwrap();
        assert_eq!(text, fetch_page(service, "/docs/guides/rules"));
    });
}

#[test]
fn unknown_paths_outside_the_versions_link_to_the_pages() {
    for_each_database(|service| {
        let error_message =
            |path: &str| service.running.send_request("GET", path, &[], None).expect_error(404);
        for path in [
            "/nope",
            "/docs/",
            "/docs/guides",
            "/docs/guides/start/",
            "/docs/nope/",
            "/openapi.json/",
            "/companies",
        ] {
            assert_eq!(error_message(path), "unknown path; GET /docs lists the API", "{path}");
        }
        assert_eq!(error_message("/v2/companies"), "unknown API version");
        let browser = [("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")];
        for (accepted, expected) in [("gzip", Some("gzip")), ("zstd", None)] {
            let headers = [browser[0], ("Accept-Encoding", accepted)];
            let (_, encoding) = service.running.get_raw_body("/nope", &headers);
            assert_eq!(encoding.as_deref(), expected, "a page is compressed once, not for each request");
        }
        for path in
            ["/nope", "/docs/", "/docs/guides", "/docs/nothing", "/openapi.json/", "/404", "/v2/companies"]
        {
            let shown = service.running.send_request("GET", path, &browser, None);
            assert_eq!((shown.status, shown.header("content-type")), (404, Some("text/html; charset=utf-8")));
            assert!(
                shown.body.contains("Page not found") && shown.body.contains("href=\"/docs/guides/start\"")
            );
            assert!(shown.header("content-security-policy").is_some());
        }
        let refused = service.running.send_request("GET", "/v1/nothing", &browser, None);
        assert_eq!(refused.header("content-type"), Some("application/json"));
        let refused = service.running.send_request("POST", "/health", &[], None);
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
    });
}

#[test]
fn the_root_redirects_to_the_pages() {
    for_each_database(|service| {
        assert!(
            fetch_page(service, "/").contains("<title>Guerdon for integrators"),
            "the client follows the redirect"
        );
        let posted = service.running.send_request("POST", "/", &[], None);
        assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")));
    });
}

#[test]
fn every_page_is_also_served_as_markdown_and_listed_in_the_index() {
    let service = TestService::start(create_any_database(), &[]);
    let index = service.running.send_request("GET", "/llms.txt", &[], None);
    assert_eq!((index.status, index.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert!(index.body.starts_with("# Guerdon"), "{}", index.body);
    for (path, page) in fetch_all_pages(&service) {
        let markdown = service.running.send_request("GET", &format!("{path}.md"), &[], None);
        assert_eq!(
            (markdown.status, markdown.header("content-type")),
            (200, Some("text/markdown; charset=utf-8"))
        );
        assert!(markdown.body.starts_with("# ") && !markdown.body.contains("<html"), "{path}");
        if path != "/docs" {
            assert!(index.body.contains(&format!("]({path}.md): ")), "{path} is not in the index");
            assert!(page.contains(&format!("type=\"text/markdown\" href=\"{path}.md\"")), "{path}");
        }
    }
    let refused = service.running.send_request("POST", "/llms.txt", &[], None);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
    let search = service.running.send_request("GET", "/docs/search.json", &[], None);
    let index: Value = serde_json::from_str(&search.body).unwrap();
    let entries: Vec<[String; 4]> = serde_json::from_value(index["sections"].clone()).unwrap();
    assert!(entries.iter().any(|[url, ..]| url == "/docs/reference/users#createUser"), "{}", entries.len());
}

#[test]
fn every_page_passes_in_a_browser_at_both_widths_in_light_and_dark() {
    let Some(browser) = Browser::find_installed() else { return };
    let service = TestService::start(create_any_database(), &[]);
    let style = fetch_page(&service, "/docs/style.css");
    let pages = fetch_all_pages(&service);
    let pages: Vec<_> = pages.iter().map(|(path, page)| (path.as_str(), page.as_str())).collect();
    browser.assert_pages_render(&pages, &style);
}

#[test]
fn the_policy_permits_the_script_to_search_and_to_add_copy_buttons() {
    let Some(browser) = Browser::find_installed() else { return };
    let service = TestService::start(create_any_database(), &[]);
    let shown = browser.dump_page(&format!("{}/docs/guides/start?q=rotated+secret", service.running.api_url));
    assert!(shown.contains("class=\"copy\">Copy</button>"), "{shown:.2000}");
    let results = shown.split("id=\"results\"").nth(1).and_then(|rest| rest.split("</header>").next());
    let link = "href=\"/docs/guides/webhooks#verify-the-signature\"";
    assert!(results.is_some_and(|results| results.contains(link)), "{results:?}");
}
