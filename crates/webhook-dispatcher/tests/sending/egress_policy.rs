//! The egress policy, checked by counting connections and lookups.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::Arc;

use guerdon_webhook_dispatcher::{EgressPolicy, HttpSender};

use super::fixture::{
    ALLOW_ALL, PUBLIC_ONLY, ScriptedResolver, assert_confirmed, attempt_delivery, create_sender, failure_of,
    sender_parts,
};
use super::receiver::{ForbiddenPort, Receiver};

const NOT_PUBLIC: &str = "refused: the host has an address that is not public";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A sender that resolves the name for each attempt.
fn sender_with(policy: EgressPolicy, names: Arc<ScriptedResolver>) -> HttpSender {
    let mut parts = sender_parts(policy);
    parts.limits.dns_cache_ttl = std::time::Duration::ZERO;
    parts.resolver = names;
    HttpSender::new(parts).unwrap()
}

#[test]
fn a_private_address_is_refused_in_every_notation() {
    let trap = ForbiddenPort::new();
    let port = trap.address().port();
    for host in
        ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "localhost", "localhost.", "0"]
    {
        let outcome = attempt_delivery(&create_sender(PUBLIC_ONLY), &format!("http://{host}:{port}/"));
        assert!(failure_of(&outcome).starts_with("callback_url must be a public address"), "{host}");
    }
    for host in ["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[::1]"] {
        let outcome = attempt_delivery(&create_sender(PUBLIC_ONLY), &format!("http://{host}:{port}/"));
        assert!(failure_of(&outcome).starts_with("callback_url must be a public address"), "{host}");
    }
    trap.assert_untouched();
}

#[test]
fn a_name_that_resolves_to_a_private_address_is_refused() {
    let trap = ForbiddenPort::new();
    let url = format!("http://inside.example:{}/", trap.address().port());
    for address in
        ["127.0.0.1", "::ffff:127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "fe80::1", "64:ff9b::1"]
    {
        let sender = sender_with(PUBLIC_ONLY, ScriptedResolver::with_name("inside.example", &[&[address]]));
        let outcome = attempt_delivery(&sender, &url);
        assert_eq!(failure_of(&outcome), NOT_PUBLIC);
    }
    trap.assert_untouched();
}

#[test]
fn one_private_address_refuses_the_whole_lookup() {
    let trap = ForbiddenPort::new();
    let url = format!("http://mixed.example:{}/", trap.address().port());
    let results: [&[&str]; 3] = [
        &["127.0.0.1", "8.8.8.8"],
        &["8.8.8.8", "127.0.0.1"],
        &["2606:4700::1111", "8.8.8.8", "8.8.4.4", "127.0.0.1"],
    ];
    for result in results {
        let sender = sender_with(PUBLIC_ONLY, ScriptedResolver::with_name("mixed.example", &[result]));
        assert_eq!(failure_of(&attempt_delivery(&sender, &url)), NOT_PUBLIC);
    }
    // A private address is also found after more addresses than the sender would try.
    let many: Vec<_> =
        (0..40).map(|octet| format!("8.8.8.{octet}")).chain(["127.0.0.1".to_owned()]).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let sender = sender_with(PUBLIC_ONLY, ScriptedResolver::with_name("mixed.example", &[&many]));
    assert_eq!(failure_of(&attempt_delivery(&sender, &url)), NOT_PUBLIC);
    trap.assert_untouched();
}

/// The check and the connection use the result of the same lookup, so the addresses cannot differ.
#[test]
fn a_name_is_resolved_once_per_attempt() {
    let receiver = Receiver::with_response(OK);
    let names = ScriptedResolver::with_name(
        "moving.example",
        &[&["127.0.0.1"], &["127.0.0.1"], &["192.0.2.1", "::"]],
    );
    let sender = sender_with(ALLOW_ALL, Arc::clone(&names));
    let url = format!("http://moving.example:{}/", receiver.address.port());
    assert_confirmed(&attempt_delivery(&sender, &url));
    assert_confirmed(&attempt_delivery(&sender, &url));
    assert_eq!(receiver.connection_count(), 1);
    assert_eq!(receiver.requests.recv().unwrap().header("host"), Some(url[7..].trim_end_matches('/')));
}

#[test]
fn a_pooled_connection_is_not_used_after_its_name_resolves_elsewhere() {
    let before = Receiver::with_response(OK);
    let port = before.address.port();
    let after = Receiver::bind_at(SocketAddr::new(Ipv4Addr::new(127, 0, 0, 2).into(), port), |stream| {
        std::io::Write::write_all(stream, OK.as_bytes())
    });
    let names = ScriptedResolver::with_name(
        "moving.example",
        &[&["127.0.0.1"], &["127.0.0.2"], &["127.0.0.1"], &["127.0.0.2", "127.0.0.1"]],
    );
    let sender = sender_with(ALLOW_ALL, names);
    let url = format!("http://moving.example:{port}/");
    let arrived = || (before.requests.try_iter().count(), after.requests.try_iter().count());
    for expected in [(1, 0), (0, 1), (1, 0)] {
        assert_confirmed(&attempt_delivery(&sender, &url));
        assert_eq!(arrived(), expected);
    }
    assert_confirmed(&attempt_delivery(&sender, &url));
}

#[test]
fn an_unreachable_address_is_followed_by_the_next() {
    let receiver = Receiver::with_response(OK);
    let names = ScriptedResolver::with_name("several.example", &[&["127.0.0.3", "127.0.0.4", "127.0.0.1"]]);
    let url = format!("http://several.example:{}/", receiver.address.port());
    assert_confirmed(&attempt_delivery(&sender_with(ALLOW_ALL, names), &url));
}

#[test]
fn plain_http_is_refused_unless_allowed() {
    let trap = ForbiddenPort::new();
    let policy = EgressPolicy { allow_http: false, allow_private_networks: true };
    let outcome = attempt_delivery(&create_sender(policy), &format!("http://{}/", trap.address()));
    assert!(failure_of(&outcome).starts_with("callback_url must be https"));
    trap.assert_untouched();
}

const CHILD_URL_VARIABLE: &str = "GUERDON_TEST_RECEIVER";

/// Runs this test again in a process whose environment sets proxies.
#[test]
fn proxies_of_the_environment_are_ignored() {
    if let Ok(url) = std::env::var(CHILD_URL_VARIABLE) {
        return assert_confirmed(&attempt_delivery(&create_sender(ALLOW_ALL), &url));
    }
    let (trap, receiver) = (ForbiddenPort::new(), Receiver::with_response(OK));
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "sending::egress_policy::proxies_of_the_environment_are_ignored"]);
    for variable in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        child.env(variable, format!("http://{}", trap.address()));
    }
    let output = child
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .env(CHILD_URL_VARIABLE, receiver.url())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(receiver.requests.recv().unwrap().line, "POST /hook HTTP/1.1");
    trap.assert_untouched();
}
