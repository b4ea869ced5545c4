//! The integrator pages: they need no credentials, every curl command in them works, and browsers display them
//! correctly.

mod clients;

use std::process::Command;
use std::sync::PoisonError;

use guerdon_persistence::testing::each;
use serde_json::Value;

use crate::sandbox::{ALONE, Sandbox};
use crate::support::browser::Browser;
use crate::support::on_each;
use crate::support::service::Service;

/// A page as the service serves it.
fn page(service: &Service, path: &str) -> String {
    let answer = service.running.request("GET", path, &[], None);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

/// Every documentation page in the order of the contents, found by the links of the first page.
fn pages(service: &Service) -> Vec<(String, String)> {
    let first = page(service, "/docs");
    let links = first.split(" href=\"").skip(1).filter_map(|part| part.split('"').next());
    let mut paths = vec!["/docs".to_owned()];
    for link in links.filter(|link| link.starts_with("/docs/guides/") || link.starts_with("/docs/reference/"))
    {
        if !paths.iter().any(|path| path == link) {
            paths.push(link.to_owned());
        }
    }
    assert!(paths.len() > 16, "{paths:?}");
    paths.into_iter().map(|path| (path.clone(), page(service, &path))).collect()
}

/// The curl commands on a page, as a reader copies them.
fn lines(page: &str) -> Vec<String> {
    let listings = page.split("<code class=\"").skip(1);
    let kept = listings.filter(|listing| listing.starts_with("curl\"") || listing.starts_with("sh\""));
    kept.filter_map(|listing| listing.split_once('>')?.1.split_once("</code>"))
        .map(|(text, _)| {
            text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
        })
        .collect()
}

#[test]
fn pages_are_public_and_run_no_scripts() {
    on_each(|service| {
        let answer = service.running.request("GET", "/docs", &[], None);
        let header =
            |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert!(header("content-type").starts_with("text/html"), "{:?}", answer.headers);
        assert!(header("content-security-policy").starts_with("default-src 'none'; style-src 'self'"));
        assert_eq!(header("x-content-type-options"), "nosniff");
        let description = service.running.request("GET", "/openapi.json", &[], None);
        assert_eq!(description.headers["content-type"], "application/json");
        let served: Value = serde_json::from_str(&description.body).unwrap();
        let kept: Value = serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
        assert!(
            served == kept,
            "docs/openapi.json is not what the service serves: run `cargo xtask openapi`"
        );
        assert_eq!(service.json(&["openapi"]), kept);
        assert!(service.running.request("HEAD", "/docs", &[], None).body.is_empty());
        let refused = service.running.request("POST", "/docs", &[], None);
        assert_eq!((refused.status, refused.headers["allow"].to_str().unwrap()), (405, "GET, HEAD"));
        let (gzipped, encoding) = service.running.raw("/docs/guides/rules", &[("Accept-Encoding", "gzip")]);
        assert_eq!(encoding.as_deref(), Some("gzip"));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(gzipped.as_slice()), &mut text)
            .unwrap();
        assert_eq!(text, page(service, "/docs/guides/rules"));
    });
}

#[test]
fn unknown_paths_outside_the_versions_link_to_the_pages() {
    on_each(|service| {
        let told = |path: &str| service.running.request("GET", path, &[], None).error(404);
        for path in [
            "/nope",
            "/docs/",
            "/docs/guides",
            "/docs/guides/start/",
            "/docs/nope/",
            "/openapi.json/",
            "/companies",
        ] {
            assert_eq!(told(path), "unknown path; GET /docs lists the API", "{path}");
        }
        assert_eq!(told("/v2/companies"), "unknown API version");
        let browser = [("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")];
        for (accepted, expected) in [("gzip", Some("gzip")), ("zstd", None)] {
            let headers = [browser[0], ("Accept-Encoding", accepted)];
            let (_, encoding) = service.running.raw("/nope", &headers);
            assert_eq!(encoding.as_deref(), expected, "a page is compressed once, not for each request");
        }
        for path in ["/nope", "/docs/", "/docs/guides", "/docs/nothing", "/openapi.json/", "/404"] {
            let shown = service.running.request("GET", path, &browser, None);
            assert_eq!((shown.status, shown.header("content-type")), (404, Some("text/html; charset=utf-8")));
            assert!(
                shown.body.contains("Page not found") && shown.body.contains("href=\"/docs/guides/start\"")
            );
            assert!(shown.header("content-security-policy").is_some());
        }
        for path in ["/v2/companies", "/v1/nothing"] {
            let refused = service.running.request("GET", path, &browser, None);
            assert_eq!(refused.header("content-type"), Some("application/json"), "{path}");
        }
        let refused = service.running.request("POST", "/health", &[], None);
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
    });
}

#[test]
fn the_root_redirects_to_the_pages() {
    on_each(|service| {
        assert!(
            page(service, "/").contains("<title>Guerdon for integrators"),
            "the client follows the redirect"
        );
        let posted = service.running.request("POST", "/", &[], None);
        assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")));
    });
}

#[test]
fn every_example_works_in_the_sandbox_in_page_order() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let pages = {
        let database = each().into_iter().next().unwrap();
        pages(&Service::start(database, &[]))
    };
    for database in each() {
        let sandbox = Sandbox::start(&["--database", &database.url]);
        let exports = sandbox.exports();
        let mut count = 0;
        for (path, page) in &pages {
            for line in lines(page) {
                let printed = run(&exports, &line);
                assert!(printed.starts_with('2'), "{path}: {printed} for\n{line}");
                count += 1;
            }
        }
        assert!(count > 40, "{count}");
    }
}

/// The status of an example's response, run in a shell with the sandbox's exports.
fn run(exports: &str, line: &str) -> String {
    let line = line.replace("curl ", "curl -sS -o /dev/null -w '%{http_code}' ");
    let output = Command::new("sh").args(["-c", &format!("{exports}{line}")]).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn every_page_passes_in_a_browser_at_both_widths_in_light_and_dark() {
    let Some(browser) = Browser::find() else { return };
    let database = each().into_iter().next().unwrap();
    let service = Service::start(database, &[]);
    let style = page(&service, "/docs/style.css");
    let pages = pages(&service);
    let pages: Vec<_> = pages.iter().map(|(path, page)| (path.as_str(), page.as_str())).collect();
    browser.shows(&pages, &style);
}
