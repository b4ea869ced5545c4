//! The console pages as a browser receives them.

use std::collections::BTreeMap;

use guerdon_test_harness::OperatorPage;

use crate::support::browser::Browser;
use crate::support::receiver::{Reply, WebhookReceiver};
use crate::support::service::TestService;
use crate::support::{
    SampleCompany, for_each_database, for_each_database_with, wait_for_first_event, wait_until,
};

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
            (format!("/users/{}", sample.users[0]), "Last movements"),
            ("/search".to_owned(), "Search"),
            ("/events?state=exhausted".to_owned(), "Events"),
            ("/requests?status=5xx".to_owned(), "Failed requests"),
            ("/schedules".to_owned(), "Schedules"),
            ("/audit?action=reserve.deposit".to_owned(), "reserve.deposit"),
        ];
        for (path, holds) in paths {
            let OperatorPage { status, headers, body } = service.running.operator_page(&path);
            assert_eq!(status, 200, "{path}");
            let policy = headers["content-security-policy"].to_str().unwrap();
            assert!(policy.contains("default-src 'none'") && body.contains(holds), "{path}: {policy}");
            assert!(!body.contains("<script") && !body.contains("@example.com"), "{path}");
        }
        for path in ["/nothing", "/companies/nobody", "/users/1", "/events/1", "/providers/x/y"] {
            assert_eq!(service.running.operator_page(path).status, 404, "{path}");
        }
    });
}

#[test]
fn a_callback_url_is_shown_without_possible_secrets() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let url = "https://hooks.example:8443/hook/PATHTOKEN?token=QUERYTOKEN";
        service.run_json_command(&["provider", "set", &sample.provider.id, "--callback-url", url]);
        let provider = &sample.provider.id;
        for path in
            ["/providers".to_owned(), format!("/providers/{provider}"), format!("/audit?provider={provider}")]
        {
            let OperatorPage { status, body: page, .. } = service.running.operator_page(&path);
            assert_eq!(status, 200, "{path}");
            assert!(page.contains("https://hooks.example:8443"), "{path}: {page}");
            assert!(!["PATHTOKEN", "QUERYTOKEN"].iter().any(|secret| page.contains(secret)), "{path}");
        }
    });
}

/// Crawls all pages, starting at `/`. Returns for each path the page that was loaded first.
fn crawl_pages(service: &TestService) -> BTreeMap<String, String> {
    let (mut found, mut open) = (BTreeMap::new(), vec!["/".to_owned()]);
    let mut seen = open.clone();
    while let Some(link) = open.pop() {
        let OperatorPage { status, body: page, .. } = service.running.operator_page(&link);
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
            service.running.operator_page("/").body.contains(">2<").then_some(())
        });
        wait_until("the failing receiver should be shown", || {
            let page = service.running.operator_page("/").body;
            let is_shown = page.contains("The receiver of Sample is failing: it confirmed 0 of the last 20");
            (is_shown && page.contains(id)).then_some(())
        });
        let pages = crawl_pages(service);
        assert!(pages.keys().any(|path| path.starts_with("/events/")), "{:?}", pages.keys());
        assert!(pages.len() >= 9, "{:?}", pages.keys());
        if !service.database.is_embedded() {
            return; // the pages are the same on both databases
        }
        let Some(browser) = Browser::find_installed() else { return };
        let style = service.running.operator_page("/console.css").body;
        let pages: Vec<_> = pages.iter().map(|(path, page)| (path.as_str(), page.as_str())).collect();
        browser.assert_pages_render(&pages, &style);
    });
}

#[test]
fn dns_rebinding_is_rejected() {
    for_each_database(|service| {
        let address = service.running.operator_url.trim_start_matches("http://").to_owned();
        let port = address.rsplit(':').next().unwrap().to_owned();
        let get_status = |path: &str, host: &str| {
            let response = ureq::get(format!("http://{address}{path}"))
                .config()
                .http_status_as_error(false)
                .build()
                .header("Host", host)
                .call();
            response.unwrap().status().as_u16()
        };
        for path in ["/", "/status", "/metrics", "/console.css"] {
            assert_eq!(get_status(path, &format!("rebound.example:{port}")), 421, "{path}");
            for host in ["localhost", "127.0.0.1", "[::1]"] {
                assert_eq!(get_status(path, &format!("{host}:{port}")), 200, "{path} as {host}");
            }
        }
        assert_eq!(get_status("/readyz", "guerdon.internal"), 200);
        let posted =
            ureq::post(format!("http://{address}/companies")).config().http_status_as_error(false).build();
        let posted = posted.send_empty().unwrap();
        assert_eq!(
            (posted.status().as_u16(), &posted.headers()["Allow"]),
            (405, &"GET, HEAD".parse().unwrap())
        );
    });
}

/// Requests a page without following redirects: status, target of the redirect, and page.
fn request_page(service: &TestService, path: &str, form: Option<&str>) -> (u16, String, String) {
    let url = format!("{}{path}", service.running.operator_url);
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
    let response = match form {
        Some(form) => agent.post(url).content_type("application/x-www-form-urlencoded").send(form),
        None => agent.get(url).call(),
    };
    let mut response = response.unwrap();
    let location = response.headers().get("Location").map_or("", |value| value.to_str().unwrap()).to_owned();
    (response.status().as_u16(), location, response.body_mut().read_to_string().unwrap())
}

#[test]
fn search_leads_to_the_only_result() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let (company, user, provider) = (&sample.company, &sample.users[0], &sample.provider.id);
        let check = |text: &str, expected: &str| {
            let (status, found_at, _) = request_page(service, &format!("/search?q={text}"), None);
            assert_eq!((status, found_at.as_str()), (303, expected), "{text}");
        };
        check(&format!("{provider}.EXAMPLE.com"), &format!("/companies/{company}"));
        check(company, &format!("/companies/{company}"));
        check(user, &format!("/users/{user}"));
        check("samPLE", &format!("/providers/{provider}"));
        sample.deposit_points(service, 10);
        let sent = sample.send_recognition(service, company, &[user], 1).json();
        let recognition = sent["recognitions"][0]["id"].as_str().unwrap().to_owned();
        let (_, target, page) = request_page(service, &format!("/search?q={recognition}"), None);
        assert!(target == format!("/users/{user}") || page.contains("recognition.received"), "{page}");
        check("Example", &format!("/companies/{company}"));
        let (status, _, page) = request_page(service, "/search?q=%3Cb%3Enothing", None);
        assert!(status == 200 && page.contains("Nothing has this id") && !page.contains("<b>"), "{page}");
        let (status, target, _) = request_page(service, "/search", Some("q=a+b%26c"));
        assert_eq!((status, target.as_str()), (303, "/search?q=a+b%26c"));
        assert_eq!(request_page(service, "/search", Some(&"q".repeat(5_000))).0, 413);
    });
}

#[test]
fn an_email_address_is_searched_for_only_outside_of_urls() {
    for_each_database(|service| {
        let (one, other) = (SampleCompany::create(service, 1), service.create_provider("Other", true));
        let (status, target, _) = request_page(service, "/search", Some("q=U0%40Example.com"));
        assert_eq!((status, target), (303, format!("/users/{}", one.users[0])));
        let other = SampleCompany::create_in_domain(service, other, "other.example", 1);
        let (status, _, page) = request_page(service, "/search", Some("q=u0%40example.com"));
        assert_eq!(status, 200);
        for user in [&one.users[0], &other.users[0]] {
            assert!(page.contains(&format!("href=\"/users/{user}\"")), "{page}");
        }
        assert!(!page.to_lowercase().contains("u0@example.com"), "{page}");
        let (status, _, page) = request_page(service, "/search?q=u0%40example.com", None);
        assert!(status == 200 && page.contains("in a URL is not searched for"), "{page}");
        assert!(!page.contains("u0@") && !page.contains("u0%40"), "{page}");
        let (status, _, page) = request_page(service, "/search", Some("q=nobody%40example.com"));
        assert!(status == 200 && page.contains("Nothing has this id"), "{page}");
    });
}

#[test]
fn the_audit_log_hides_recognitions_and_finds_companies_by_name() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 10);
        assert_eq!(sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 7).status, 201);
        let domain = format!("{}.example.com", sample.provider.id);
        let sent = "7 points to each of 1";
        let check = |query: &str, holds: &str, lacks: &str| {
            let (status, _, page) = request_page(service, &format!("/audit{query}"), None);
            assert_eq!(status, 200, "{query}");
            assert!(page.contains(holds) && !page.contains(lacks), "{query}: {page}");
        };
        check("", "20 points", sent);
        check("?recognitions=shown", sent, "No action");
        check("?action=recognition.create", sent, "20 points");
        check(&format!("?company={domain}"), "20 points", sent);
        check("?company=exampl", "20 points", sent);
        check("?company=nothing", "No company has this", "20 points");
        check(&format!("?provider={}", sample.provider.id), "20 points", sent);
        check(&format!("?provider={}", sample.company), "No action matches", "20 points");
        let (_, _, page) = request_page(service, &format!("/companies/{}", sample.company), None);
        assert!(page.contains("20 points") && !page.contains(sent), "{page}");
    });
}

#[test]
fn events_show_the_responses_of_their_receiver() {
    let settings =
        [("GUERDON_WEBHOOKS__ALLOW_HTTP", "true"), ("GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS", "true")];
    for_each_database_with(&settings, |service| {
        let (sample, receiver) = (SampleCompany::create(service, 1), WebhookReceiver::start().unwrap());
        receiver.set_default_reply(Reply::Bytes(
            b"HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nSet-Cookie: a=secret\r\nContent-Length: 17\r\n\r\nthe <b> is full\r\n",
        ));
        service.run_json_command(&[
            "provider",
            "set",
            &sample.provider.id,
            "--callback-url",
            &receiver.url(),
        ]);
        sample.deposit_points(service, 10);
        assert_eq!(sample.send_recognition(service, &sample.company, &[&sample.users[0]], 1).status, 201);
        let event = wait_for_first_event(service, &sample.provider);
        let id = event["id"].as_str().unwrap();
        let path = format!("/events/{id}");
        let page = wait_until("the response should be shown", || {
            let page = service.running.operator_page(&path).body;
            page.contains("Attempt 1: status 503").then_some(page)
        });
        assert!(page.contains("the &lt;b&gt; is full"), "{page}");
        assert!(page.contains("retry-after: 30") && !page.contains("a=secret"), "{page}");
        let shown = service.run_json_command(&["event", "show", id]);
        let headers = shown["attempts"][0]["response_headers"].as_str().unwrap();
        assert!(headers.contains("retry-after: 30\n") && !headers.contains("secret"), "{headers}");
        let text = service.run_command(&["event", "show", id]).stdout;
        assert!(text.contains("response to attempt 1, status 503:\n"), "{text}");
        assert!(text.contains("\n  retry-after: 30\n") && text.contains("\n  the <b> is full"), "{text}");
        assert!(page.contains(&format!("href=\"/users/{}\"", sample.users[0])), "the receiver: {page}");
        let list = service.running.operator_page("/events?state=pending").body;
        assert!(list.contains("<span class=\"badge bad\">503</span>"), "{list}");
        let replay = format!("guerdon event replay --provider {} --state pending", sample.provider.id);
        let provider = service.running.operator_page(&format!("/providers/{}", sample.provider.id)).body;
        assert!(provider.contains(&replay), "{provider}");
    });
}
