//! The egress policy: checked at registration and at every attempt, independent of the environment.

use guerdon_persistence::testing::each;

use super::{HASTY, LOCAL, Post};
use crate::support::on_each_with;
use crate::support::receiver::Receiver;
use crate::support::service::Service;
use crate::support::until;

/// Each URL names this machine or a private network, or is not https.
const REFUSED: [&str; 24] = [
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
    on_each_with(&[], |service| {
        let made =
            service.json(&["provider", "create", "--name", "A", "--callback-url", "https://example.com/a"]);
        let id = made["id"].as_str().unwrap();
        for url in REFUSED {
            let refused = service.guerdon(&["provider", "set", id, "--callback-url", url]);
            assert_eq!((refused.status, refused.out.as_str()), (1, ""), "{url}");
            assert!(refused.err.contains("callback_url"), "{}", refused.err);
        }
        let refused = service.guerdon(&["provider", "create", "--name", "B", "--callback-url", REFUSED[4]]);
        assert_eq!(refused.status, 1);
        let all = service.json(&["provider", "list"]);
        assert_eq!(all.as_array().unwrap().len(), 1);
        assert_eq!(all[0]["callback_url"], "https://example.com/a");
    });
}

#[test]
fn the_egress_policy_is_checked_again_at_each_attempt() {
    let only_http = [LOCAL[0], HASTY[2]];
    for (database, stricter) in each().into_iter().zip([&only_http[..], &only_http[1..]]) {
        let service = Service::start(database, &LOCAL);
        let posts = [
            Post::make(&service, 2),
            Post::at(&service, 2, |receiver| format!("http://localhost:{}/hook", receiver.port)),
            Post::at(&service, 2, |receiver| format!("http://[::ffff:127.0.0.1]:{}/hook", receiver.port)),
        ];
        for post in &posts {
            service.json(&["provider", "set", &post.sample.provider.id, "--no-callback-url"]);
            post.recognise(&service);
            service.json(&["provider", "set", &post.sample.provider.id, "--callback-url", &post.url]);
        }
        let Service { database, running, .. } = service;
        drop(running);
        let service = Service::start(database, stricter);
        for post in &posts {
            let id = post.sample.provider.id.as_str();
            service.json(&["event", "replay", "--provider", id, "--state", "unaddressed"]);
            until("the event should have a failed attempt", || {
                let events = post.events(&service);
                assert_eq!(events[0]["state"], "pending");
                (events[0]["attempts"].as_u64().unwrap() >= 3).then_some(())
            });
            assert_eq!(post.receiver.connections(), 0, "{}", post.url);
        }
        let refused = service.database.count("attempts WHERE status IS NULL AND cause IS NOT NULL");
        assert!(refused >= 9, "{refused}");
        assert_eq!(service.guerdon(&["verify"]).status, 0);
    }
}

#[test]
fn proxies_in_the_environment_are_ignored() {
    let proxy = Receiver::start();
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let url = format!("http://127.0.0.1:{}", proxy.port);
    let settings: Vec<(&str, &str)> =
        LOCAL.into_iter().chain(names.map(|name| (name, url.as_str()))).collect();
    on_each_with(&settings, |service| {
        let post = Post::make(service, 2);
        post.recognise(service);
        post.next();
        assert_eq!(proxy.connections(), 0);
    });
}
