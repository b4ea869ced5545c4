//! Designation: which operations require it, when it is checked, and how soon a withdrawn right stops working.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{ABSENT, call, rows, send};
use crate::support::service::{Provider, Service, basic};
use crate::support::world::{self, World};
use crate::support::{on_each, on_each_with};

/// Waits until a change is visible, for at most one second.
fn within_a_second(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(1), "the change took longer than a second");
    }
}

fn designate(service: &Service, provider: &Provider, yes: bool) {
    let yes = yes.to_string();
    service.json(&["provider", "set", &provider.id, "--manages-all-domain-resources", &yes]);
}

fn is_designated(service: &Service, provider: &Provider) -> bool {
    service.post(provider, "/v1/corporations", &json!({})).status != 403
}

#[test]
fn exactly_the_specified_operations_require_designation() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        designate(service, world.provider(), false);
        within_a_second(|| !is_designated(service, world.provider()));
        let before = world.picture(service);
        let (asking, free): (Vec<_>, Vec<_>) =
            rows(&world).into_iter().partition(|row| row.needs_designation());
        assert_eq!((asking.len(), free.len()), (5, 30));
        for row in &asking {
            let message = row.call(service, world.provider()).error(403);
            for garbage in ["", "{", "[]", "{\"a\":1,\"a\":1}", "{\"name\":1,\"domain\":null}"] {
                let answer =
                    send(service, Some(&basic(world.provider())), row.method, &row.path, Some(garbage));
                assert_eq!(answer.error(403), message, "designation comes before the body");
            }
            if row.id().is_some() {
                call(service, world.provider(), row.method, &row.about(ABSENT), row.body.as_ref()).error(404);
                call(service, world.provider(), row.method, &row.about("x"), row.body.as_ref()).error(404);
            }
        }
        assert_eq!(world.picture(service), before);
        for row in &free {
            let answer = row.call(service, world.provider());
            assert_eq!(answer.status, row.success(), "{} {}: {}", row.method, row.path, answer.body);
        }
    });
}

#[test]
fn a_designated_provider_may_use_every_operation() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        for row in rows(&world) {
            let answer = row.call(service, world.provider());
            assert_eq!(answer.status, row.success(), "{} {}: {}", row.method, row.path, answer.body);
            assert_eq!(answer.body.is_empty(), row.success() == 204, "{} {}", row.method, row.path);
        }
    });
}

#[test]
fn a_stored_response_is_not_replayed_after_the_right_was_withdrawn() {
    on_each(|service| {
        let provider = service.provider("Acme", true);
        let body = json!({"name": "Group"});
        let post = || service.post_keyed(&provider, "/v1/corporations", &body, "once");
        let first = post();
        assert_eq!(first.status, 201);
        assert_eq!(post().header("idempotency-replayed"), Some("true"));
        designate(service, &provider, false);
        within_a_second(|| !is_designated(service, &provider));
        let refused = post();
        refused.error(403);
        assert_eq!(refused.header("idempotency-replayed"), None);
        designate(service, &provider, true);
        within_a_second(|| is_designated(service, &provider));
        assert_eq!(post().body, first.body);
    });
}

#[test]
fn withdrawn_rights_stop_within_a_second() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let provider = world.provider();
        let is = |provider: &Provider, status: u16| service.get(provider, "/v1/companies").status == status;
        let suspend = |yes: &str| service.json(&["provider", "set", &provider.id, "--suspended", yes]);
        suspend("true");
        within_a_second(|| is(provider, 401));
        let refused = send(service, Some(&basic(provider)), "POST", "/v1/users", Some("{}"));
        refused.error(401);
        suspend("false");
        within_a_second(|| is(provider, 200));
        let rotated = service.json(&["provider", "rotate", &provider.id, "--api-secret"]);
        let mut renewed = provider.clone();
        rotated["api_secret"].as_str().unwrap().clone_into(&mut renewed.api_secret);
        assert!(is(&renewed, 200), "the new secret works immediately");
        within_a_second(|| is(provider, 401));
        designate(service, &renewed, false);
        within_a_second(|| !is_designated(service, &renewed));
        designate(service, &renewed, true);
        within_a_second(|| is_designated(service, &renewed));
    });
}

#[test]
fn a_new_secret_works_while_a_client_at_the_same_address_retries_the_old_one() {
    on_each_with(&[("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "2")], |service| {
        let old = service.provider("Rotated", true);
        let status = |provider: &Provider| service.get(provider, "/v1/companies").status;
        let rotate = || {
            let rotated = service.json(&["provider", "rotate", &old.id, "--api-secret"]);
            Provider { api_secret: rotated["api_secret"].as_str().unwrap().to_owned(), ..old.clone() }
        };
        assert_eq!(status(&old), 200);
        let first = rotate();
        within_a_second(|| status(&old) == 429);
        for _ in 0..10 {
            assert_eq!((status(&first), status(&old)), (200, 429));
        }
        let second = rotate();
        assert_eq!(status(&second), 200, "the first request arrives during the lockout");
        within_a_second(|| status(&first) == 429);
        let suspend = |yes: &str| service.json(&["provider", "set", &old.id, "--suspended", yes]);
        suspend("true");
        within_a_second(|| status(&second) == 429);
        suspend("false");
        assert_eq!((status(&second), status(&old)), (200, 429));
    });
}

#[test]
fn an_old_secret_works_during_its_grace_period() {
    on_each(|service| {
        let first = service.provider("Graceful", true);
        let is = |provider: &Provider, status: u16| service.get(provider, "/v1/companies").status == status;
        let rotate = |more: &[&str]| {
            let rotated = service.json(&[&["provider", "rotate", &first.id, "--api-secret"], more].concat());
            Provider { api_secret: rotated["api_secret"].as_str().unwrap().to_owned(), ..first.clone() }
        };
        let second = rotate(&["--grace", "24"]);
        assert!(is(&second, 200) && is(&first, 200), "both work");
        let third = rotate(&["--grace", "1"]);
        within_a_second(|| is(&first, 401));
        assert!(is(&third, 200) && is(&second, 200), "the last two secrets work");
        let fourth = rotate(&[]);
        within_a_second(|| is(&third, 401));
        assert!(is(&second, 401) && is(&fourth, 200), "without a grace period all older secrets stop");
        for wrong in ["0", "8761", "x"] {
            let words = ["provider", "rotate", first.id.as_str(), "--api-secret", "--grace", wrong];
            assert_eq!(service.guerdon(&words).status, 2, "{wrong}");
        }
    });
}

#[test]
fn a_transferred_company_is_foreign_immediately() {
    on_each(|service| {
        let (world, heir) = (World::make(service, "zebra"), service.provider("Heir", true));
        service.json(&["company", "transfer", &world.sample.company, "--to", &heir.id]);
        for row in rows(&world) {
            // Events created before the transfer remain with the provider they were created for.
            let stays =
                ["/v1/corporations", "/v1/events"].iter().any(|prefix| row.pattern.starts_with(prefix));
            if row.id().is_none() || stays {
                continue;
            }
            let refused = row.call(service, world.provider());
            assert_eq!(refused.status, 403, "{} {}: {}", row.method, row.path, refused.body);
            let answer = row.call(service, &heir);
            assert_eq!(answer.status, row.success(), "{} {}: {}", row.method, row.path, answer.body);
        }
        let user = world::user(&world.sample.company, "zebra", "late");
        assert!(service.post(world.provider(), "/v1/users", &user).error(403).contains("company_id"));
        assert_eq!(service.post(&heir, "/v1/users", &user).status, 201);
        assert_eq!(service.get(world.provider(), "/v1/companies").json()["total_count"], 0);
        let companies = format!("/v1/corporations/{}/companies", world.corporation);
        assert_eq!(service.get(world.provider(), &companies).json()["total_count"], 0);
        service.get(&heir, &companies).error(403);
    });
}
