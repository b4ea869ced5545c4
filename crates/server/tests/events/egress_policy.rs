//! The egress policy: checked at registration and at every attempt, independent of the environment.

use guerdon_persistence::testing::create_databases;

use super::{ALLOW_LOCAL_RECEIVERS, FAST_RETRIES, WebhookFixture};
use crate::support::receiver::WebhookReceiver;
use crate::support::service::TestService;
use crate::support::{for_each_database_with, wait_until};

/// Each URL names this machine or a private network, or is not https.
const REFUSED_URLS: [&str; 24] = [
    "http://example.com/hook",
    "ftp://example.com/hook",
    "https://user@example.com/hook",
    "https://example.com/hook#part",
    "https://127.0.0.1/hook",
    "https://127.1/hook",
    "https://0x7f000001/hook",
    "https://2130706433/hook",
    "https://0177.0.0.1/hook",
    "https://0.0.0.0/hook",
    "https://10.0.0.1/hook",
    "https://100.64.0.1/hook",
    "https://169.254.169.254/latest/meta-data",
    "https://172.16.0.1/hook",
    "https://192.168.1.1:8443/hook",
    "https://255.255.255.255/hook",
    "https://[::1]/hook",
    "https://[::]/hook",
    "https://[::ffff:127.0.0.1]/hook",
    "https://[64:ff9b::7f00:1]/hook",
    "https://[fd00::1]/hook",
    "https://[fe80::1]/hook",
    "https://localhost/hook",
    "https://LOCALHOST./hook",
];

#[test]
fn urls_that_are_not_public_https_are_refused_at_registration() {
    for_each_database_with(&[], |service| {
        let provider = service.run_json_command(&[
            "provider",
            "create",
            "--name",
            "A",
            "--callback-url",
            "https://example.com/a",
        ]);
        let id = provider["id"].as_str().unwrap();
        for url in REFUSED_URLS {
            let refused = service.run_command(&["provider", "set", id, "--callback-url", url]);
            assert_eq!((refused.status, refused.stdout.as_str()), (1, ""), "{url}");
            assert!(refused.stderr.contains("callback_url"), "{}", refused.stderr);
        }
        let refused =
            service.run_command(&["provider", "create", "--name", "B", "--callback-url", REFUSED_URLS[4]]);
        assert_eq!(refused.status, 1);
        let all = service.run_json_command(&["provider", "list"]);
        assert_eq!(all.as_array().unwrap().len(), 1);
        assert_eq!(all[0]["callback_url"], "https://example.com/a");
    });
}

#[test]
fn the_egress_policy_is_checked_again_at_each_attempt() {
    let only_http = [ALLOW_LOCAL_RECEIVERS[0], FAST_RETRIES[2]];
    for (database, stricter) in create_databases().into_iter().zip([&only_http[..], &only_http[1..]]) {
        let service = TestService::start(database, &ALLOW_LOCAL_RECEIVERS);
        let fixtures = [
            WebhookFixture::create(&service, 2),
            WebhookFixture::create_with_url(&service, 2, |receiver| {
                format!("http://localhost:{}/hook", receiver.port)
            }),
            WebhookFixture::create_with_url(&service, 2, |receiver| {
                format!("http://[::ffff:127.0.0.1]:{}/hook", receiver.port)
            }),
        ];
        for fixture in &fixtures {
            service.run_json_command(&["provider", "set", &fixture.sample.provider.id, "--no-callback-url"]);
            fixture.send_recognition(&service);
            service.run_json_command(&[
                "provider",
                "set",
                &fixture.sample.provider.id,
                "--callback-url",
                &fixture.url,
            ]);
        }
        let TestService { database, running, .. } = service;
        drop(running);
        let service = TestService::start(database, stricter);
        for fixture in &fixtures {
            let id = fixture.sample.provider.id.as_str();
            service.run_json_command(&["event", "replay", "--provider", id, "--state", "unaddressed"]);
            wait_until("the event should have a failed attempt", || {
                let events = fixture.list_events(&service);
                assert_eq!(events[0]["state"], "pending");
                (events[0]["attempts"].as_u64().unwrap() >= 3).then_some(())
            });
            assert_eq!(fixture.receiver.connection_count(), 0, "{}", fixture.url);
        }
        let refused = service.database.count_rows("attempts WHERE status IS NULL AND failure IS NOT NULL");
        assert!(refused >= 9, "{refused}");
        assert_eq!(service.run_command(&["verify"]).status, 0);
    }
}

#[test]
fn proxies_in_the_environment_are_ignored() {
    let proxy = WebhookReceiver::start().unwrap();
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let url = format!("http://127.0.0.1:{}", proxy.port);
    let settings: Vec<(&str, &str)> =
        ALLOW_LOCAL_RECEIVERS.into_iter().chain(names.map(|name| (name, url.as_str()))).collect();
    for_each_database_with(&settings, |service| {
        let fixture = WebhookFixture::create(service, 2);
        fixture.send_recognition(service);
        fixture.next();
        assert_eq!(proxy.connection_count(), 0);
    });
}
