//! The console pages as a browser receives them.

use std::collections::BTreeMap;

use crate::support::browser::Browser;
use crate::support::service::TestService;
use crate::support::{SampleCompany, for_each_database, for_each_database_with, wait_until};

#[test]
fn the_console_shows_all_objects_and_runs_no_scripts() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 10);
        let (company, provider) = (&sample.company, &sample.provider.id);
        let paths = [
            ("/".to_owned(), "Overview"),
            ("/companies?q=example&sort=reserve&order=desc".to_owned(), "Companies"),
            (format!("/companies/{company}?days=90"), "Reserve"),
            ("/providers".to_owned(), "Providers"),
            (format!("/providers/{provider}"), "Sample"),
            ("/events?state=exhausted".to_owned(), "Events"),
            ("/requests?status=5xx".to_owned(), "Failed requests"),
            ("/schedules".to_owned(), "Schedules"),
            ("/audit?action=reserve.deposit".to_owned(), "reserve.deposit"),
        ];
        for (path, holds) in paths {
            let (status, head, body) = service.running.get_operator_page(&path);
            assert_eq!(status, 200, "{path}");
            assert!(head.contains("default-src 'none'") && body.contains(holds), "{path}: {head}");
            assert!(!body.contains("<script") && !body.contains("@example.com"), "{path}");
        }
        for path in ["/nothing", "/companies/nobody", "/events/1", "/providers/x/y"] {
            assert_eq!(service.running.get_operator_page(path).0, 404, "{path}");
        }
    });
}

#[test]
fn a_callback_url_is_shown_without_possible_secrets() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let url = "https://hooks.example:8443/hook/PATHTOKEN?token=QUERYTOKEN";
        service.run_json_command(&["provider", "set", &sample.provider.id, "--callback-url", url]);
        for path in ["/providers".to_owned(), format!("/providers/{}", sample.provider.id)] {
            let (status, _, page) = service.running.get_operator_page(&path);
            assert_eq!(status, 200, "{path}");
            assert!(page.contains("<code>https://hooks.example:8443</code>"), "{path}: {page}");
            assert!(!["PATHTOKEN", "QUERYTOKEN"].iter().any(|secret| page.contains(secret)), "{path}");
        }
    });
}

/// Crawls every page from the first one. Maps each path to its page, for the shortest query of the path.
fn crawl_pages(service: &TestService) -> BTreeMap<String, String> {
    let (mut found, mut open) = (BTreeMap::new(), vec!["/".to_owned()]);
    let mut seen = open.clone();
    while let Some(link) = open.pop() {
        let (status, _, page) = service.running.get_operator_page(&link);
        assert_eq!(status, 200, "{link}");
        let links = page.split(" href=\"").skip(1).filter_map(|part| part.split('"').next());
        for next in links.map(|link| link.replace("&amp;", "&")) {
            if next.starts_with('/') && !next.ends_with(".css") && !seen.contains(&next) && seen.len() < 300 {
                seen.push(next.clone());
                open.push(next);
            }
        }
        let path = link.split('?').next().unwrap().to_owned();
        found.entry(path).or_insert(page);
    }
    found
}

#[test]
fn every_link_works_and_every_page_passes_in_a_browser() {
    let settings = [
        ("GUERDON_WEBHOOKS__ALLOW_HTTP", "true"),
        ("GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS", "true"),
        ("GUERDON_WEBHOOKS__TIME_SCALE", "1000000"), // all attempts happen immediately
    ];
    for_each_database_with(&settings, |service| {
        let sample = SampleCompany::create(service, 3);
        sample.fund_peer_wallets(service, 100);
        sample.deposit_points(service, 1_000);
        let url = "http://127.0.0.1:9/hook";
        let id = sample.provider.id.as_str();
        service.run_json_command(&["provider", "set", id, "--callback-url", url]);
        for receiver in &sample.users[1..] {
            assert_eq!(sample.send_recognition(service, &sample.users[0], &[receiver], 7).status, 201);
        }
        wait_until("the statistics should be computed", || {
            service.running.get_operator_page("/").2.contains(">2<").then_some(())
        });
        wait_until("the failing receiver should be shown", || {
            let page = service.running.get_operator_page("/").2;
            (page.contains("The receiver of Sample is failing: 0 of 22") && page.contains(id)).then_some(())
        });
        let pages = crawl_pages(service);
        assert!(pages.keys().any(|path| path.starts_with("/events/")), "{:?}", pages.keys());
        assert!(pages.len() >= 9, "{:?}", pages.keys());
        if !service.database.is_embedded() {
            return; // the pages are the same on both databases
        }
        let Some(browser) = Browser::find_installed() else { return };
        let style = service.running.get_operator_page("/console.css").2;
        let pages: Vec<_> = pages.iter().map(|(path, page)| (path.as_str(), page.as_str())).collect();
        browser.assert_pages_render(&pages, &style);
    });
}

#[test]
fn a_rebound_dns_name_reads_nothing() {
    for_each_database(|service| {
        let address = service.running.operator_url.trim_start_matches("http://").to_owned();
        let port = address.rsplit(':').next().unwrap().to_owned();
        let ask = |path: &str, host: &str| {
            let response = ureq::get(format!("http://{address}{path}"))
                .config()
                .http_status_as_error(false)
                .build()
                .header("Host", host)
                .call();
            response.unwrap().status().as_u16()
        };
        for path in ["/", "/status", "/metrics", "/console.css"] {
            assert_eq!(ask(path, &format!("rebound.example:{port}")), 421, "{path}");
            for host in ["localhost", "127.0.0.1", "[::1]"] {
                assert_eq!(ask(path, &format!("{host}:{port}")), 200, "{path} as {host}");
            }
        }
        assert_eq!(ask("/readyz", "guerdon.internal"), 200);
        let posted =
            ureq::post(format!("http://{address}/companies")).config().http_status_as_error(false).build();
        let posted = posted.send_empty().unwrap();
        assert_eq!(
            (posted.status().as_u16(), &posted.headers()["Allow"]),
            (405, &"GET, HEAD".parse().unwrap())
        );
    });
}
