//! Optional features of the API (behaviour 2.9, 5.6, 7.4, 21.2, 25).

use serde_json::{Value, json};

use crate::support::service::{ApiResponse, TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, for_each_database_with, user_body, wait_until};

/// A POST with one additional header.
fn post_with_header(
    service: &TestService,
    sample: &SampleCompany,
    path: &str,
    body: &Value,
    header: (&str, &str),
) -> ApiResponse {
    service.post_with_headers(&sample.provider, path, &body.to_string(), &[header])
}

#[test]
fn a_dry_run_returns_the_real_outcome_and_changes_nothing() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 3);
        sample.fund_peer_wallets(service, 100);
        sample.deposit_points(service, 70);
        let (ann, others) = (&sample.users[0], [&*sample.users[1], &*sample.users[2]]);
        let mut refused = 0;
        for (number, points) in [1, 20, 0, 29, 51, -1, 40, 250_001, 1, 5].into_iter().enumerate() {
            let company = if number % 2 == 0 { &sample.company } else { ann };
            let kind = if number % 2 == 0 { "company" } else { "user" };
            let body = sample.recognition_body(kind, company, &others, points);
            let shown = |service: &TestService| {
                let reserve =
                    service.get(&sample.provider, &format!("/v1/companies/{}/reserve", sample.company));
                let wallets = service.get(&sample.provider, &format!("/v1/users/{ann}/balances"));
                (
                    reserve.json()["points"].as_i64(),
                    wallets.json()["wallets"][1]["points"].as_i64(),
                    wallets.body,
                )
            };
            let before = shown(service);
            let dry = post_with_header(
                service,
                &sample,
                "/v1/recognitions/dry_run",
                &body,
                ("Idempotency-Key", "same"),
            );
            assert_eq!(shown(service), before);
            let real = service.post(&sample.provider, "/v1/recognitions", &body);
            if real.status != 201 {
                assert_eq!((dry.status, &dry.body), (real.status, &real.body), "{points}");
                refused += 1;
                continue;
            }
            let after = shown(service);
            let (wallet, left) =
                if kind == "company" { ("reserve", after.0) } else { ("peer_wallet", after.1) };
            let dollars = format!("{}.{:02}", points * 2 / 50, points * 2 * 2 % 100);
            let expected = json!({"wallet": wallet, "points": points * 2, "dollars": dollars, "receivers": 2,
                "balance_after": left});
            assert_eq!((dry.status, dry.json()), (200, expected), "{points}");
        }
        assert!((3..9).contains(&refused), "{refused}");
        let events = service.run_json_command(&["event", "list"]);
        assert_eq!(events.as_array().unwrap().len(), (10 - refused) * 2);
    });
}

#[test]
fn a_recognition_is_fetched_as_it_was_sent_or_last_changed() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 3);
        sample.fund_peer_wallets(service, 100);
        sample.deposit_points(service, 100);
        let get = |id: &str| service.get(&sample.provider, &format!("/v1/recognitions/{id}"));
        let (ann, others) = (&sample.users[0], [&*sample.users[1], &*sample.users[2]]);
        for sender in [ann, &sample.company] {
            let sent = sample.send_recognition(service, sender, &others, 3).json();
            for recognition in sent["recognitions"].as_array().unwrap() {
                let response = get(recognition["id"].as_str().unwrap());
                assert_eq!((response.status, &response.json()), (200, recognition));
            }
        }
        let sent = sample.send_recognition(service, ann, &others, 3).json()["recognitions"][0].clone();
        let id = sent["id"].as_str().unwrap();
        service.run_json_command(&["recognition", "update", id, "--message", "Changed", "--share", "false"]);
        let mut changed = sent.clone();
        (changed["message"], changed["share"]) = (json!("Changed"), json!(false));
        assert_eq!(get(id).json(), changed);
        assert_eq!(service.delete(&sample.provider, &format!("/v1/users/{}", others[0])).status, 204);
        assert_eq!(
            service.delete(&sample.provider, &format!("/v1/occasions/{}", sample.occasion)).status,
            204
        );
        assert_eq!(get(id).json(), changed, "its receiver and occasion were deleted");
        assert_eq!(get("dry_run").status, 405);
    });
}

#[test]
fn a_companys_users_can_be_filtered() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 3);
        let list = |query: &str| {
            let response =
                service.get(&sample.provider, &format!("/v1/companies/{}/users{query}", sample.company));
            assert_eq!(response.status, 200, "{query}: {}", response.body);
            let ids: Vec<String> = response.json()["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(response.json()["result_count"], ids.len());
            (response, ids)
        };
        let (all, ids) = list("");
        assert_eq!((ids.len(), all.json()["total_count"].as_i64()), (4, Some(4)));
        assert_eq!(ids[1..], sample.users[..]);
        let user = service.get(&sample.provider, &format!("/v1/users/{}", ids[1])).json();
        assert_eq!(all.json()["results"][1], user);
        let changed = json!({"employee_id": "E 7&8"});
        assert_eq!(service.put(&sample.provider, &format!("/v1/users/{}", ids[2]), &changed).status, 200);
        let changed = service.get(&sample.provider, &format!("/v1/users/{}", ids[2])).json();
        let since = changed["updated_at"].as_str().unwrap();
        assert_eq!(list(&format!("?updated_since={since}")).1, [ids[2].clone()]);
        let (found, named) = list("?employee_id=E%207%268&per_page=1");
        assert_eq!(named, [ids[2].clone()]);
        assert!(found.header("link").unwrap().contains("?employee_id=E%207%268&page=1&per_page=1>"));
        let email = user["email"].as_str().unwrap().to_uppercase();
        assert_eq!(list(&format!("?email={email}")).1, [ids[1].clone()]);
        assert_eq!(service.delete(&sample.provider, &format!("/v1/users/{}", ids[1])).status, 204);
        assert_eq!(list("").1.len(), 3);
        assert_eq!(list("?include_deleted=true&per_page=2").1, ids[..2]);
        assert_eq!(list(&format!("?email={email}&include_deleted=true")).1, [ids[1].clone()]);
        let path =
            format!("/v1/companies/{}/users?updated_since=x&include_deleted=2&email=a", sample.company);
        let message = service.get(&sample.provider, &path).expect_error(400);
        assert_eq!(message.split("; ").count(), 3, "{message}");
    });
}

#[test]
fn a_company_shows_its_reserve_transactions_and_rate_previews() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 10);
        sample.deposit_points(service, 90);
        assert_eq!(sample.send_recognition(service, &sample.company, &[&sample.users[0]], 7).status, 201);
        let path = format!("/v1/companies/{}", sample.company);
        let get = |tail: &str| service.get(&sample.provider, &format!("{path}{tail}"));
        let reserve = json!({"id": sample.company, "points": 83, "reserve_alert": null});
        assert_eq!(get("/reserve").json(), reserve);
        let moved = get("/reserve/transactions?per_page=3");
        assert!(moved.header("link").unwrap().contains("page=2&per_page=3>; rel=\"next\""));
        let moved = moved.json();
        assert_eq!((&moved["id"], &moved["type"]), (&json!(sample.company), &json!("reserve")));
        let transactions: Vec<_> = moved["transactions"].as_array().unwrap().iter().collect();
        assert_eq!((&transactions[0]["type"], &transactions[0]["points"]), (&json!("debit"), &json!(7)));
        assert_eq!((&transactions[1]["type"], &transactions[1]["points"]), (&json!("credit"), &json!(90)));
        let preview_rate =
            |body: &Value| service.post(&sample.provider, &format!("{path}/rate_preview"), body);
        let both = |now: i64, then: i64| json!({"now": now, "then": then});
        let expected = json!({"points_per_dollar": both(50, 25), "reserve": both(83, 41), "user_wallet": both(7, 3),
            "peer_wallet": both(20, 10), "manager_wallet": both(0, 0)});
        assert_eq!(preview_rate(&json!({"points_per_dollar": 25})).json(), expected);
        preview_rate(&json!({"points_per_dollar": 0})).expect_error(400);
        preview_rate(&json!({})).expect_error(400);
        assert_eq!(
            preview_rate(&json!({"points_per_dollar": 1, "x": 1})).header("x-ignored-fields"),
            Some("x")
        );
        assert_eq!(service.put(&sample.provider, &path, &json!({"points_per_dollar": 25})).status, 200);
        assert_eq!(get("/reserve").json()["points"], 41);
    });
}

#[test]
fn strict_mode_and_problem_details_are_opt_in() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let mut body = user_body(&sample.company, "new");
        body["departement"] = json!("x");
        let refused = post_with_header(
            service,
            &sample,
            "/v1/users",
            &body,
            ("Prefer", "respond-async, handling=strict"),
        );
        assert_eq!(refused.expect_error(400), "the body has unknown fields: departement");
        let faulty = json!({"points_per_dolar": 1});
        let path = format!("/v1/companies/{}/rate_preview", sample.company);
        let refused = post_with_header(service, &sample, &path, &faulty, ("Prefer", "handling=strict"));
        assert_eq!(
            refused.expect_error(400),
            "points_per_dollar is required and must be an integer from 1 to 10000; \
             the body has unknown fields: points_per_dolar"
        );
        let created = post_with_header(service, &sample, "/v1/users", &body, ("Prefer", "handling=lenient"));
        assert_eq!((created.status, created.header("x-ignored-fields")), (201, Some("departement")));
        let authorization = basic_authorization(&sample.provider);
        let get = |path: &str, authorization: &str| {
            let headers =
                [("Authorization", authorization), ("Accept", "application/problem+json, */*;q=0.1")];
            service.running.send_request("GET", path, &headers, None)
        };
        for (path, authorization, status, title, code) in [
            ("/v1/nothing", &*authorization, 404, "Not Found", "not_found"),
            ("/v1/users", &authorization, 405, "Method Not Allowed", "method_not_allowed"),
            ("/v1/companies?page=0", &authorization, 400, "Bad Request", "invalid_request"),
            ("/v1/companies", "Basic x", 401, "Unauthorized", "unauthorized"),
        ] {
            let response = get(path, authorization);
            assert_eq!(response.header("content-type"), Some("application/problem+json"), "{path}");
            let json = response.json();
            assert_eq!(
                (response.status, &json["status"], &json["title"]),
                (status, &json!(status), &json!(title))
            );
            assert_eq!((&json["code"], json["detail"].is_string()), (&json!(code), true));
        }
        let fine = get("/v1/companies", &authorization);
        assert_eq!((fine.status, fine.header("content-type")), (200, Some("application/json")));
    });
}

#[test]
fn health_on_the_api_port_needs_no_credentials() {
    for_each_database(|service| {
        let health = service.running.send_request("GET", "/health", &[], None);
        assert_eq!((health.status, &*health.body), (200, ""));
        assert!(health.header("x-request-id").is_some());
        assert_eq!(service.run_command(&["maintenance", "on"]).status, 0);
        wait_until("maintenance should begin", || {
            (service.running.send_request("GET", "/v1/companies", &[], None).status == 503).then_some(())
        });
        assert_eq!(service.running.send_request("HEAD", "/health", &[], None).status, 200);
        assert_eq!(service.run_command(&["maintenance", "off"]).status, 0);
    });
    let settings = [("GUERDON_HTTP__TLS__MODE", "proxy"), ("GUERDON_HTTP__TRUSTED_PROXIES", "192.0.2.0/24")];
    for_each_database_with(&settings, |service| {
        assert_eq!(
            service.running.send_request("GET", "/health", &[], None).status,
            200,
            "without the proxy's header"
        );
        service.running.send_request("POST", "/health", &[], None).expect_error(403);
    });
}

#[test]
fn a_deprecated_version_announces_its_end() {
    for_each_database_with(&[("GUERDON_HTTP__SUNSETS", "v1=2027-06-30")], |service| {
        for (path, is_deprecated) in [("/v1/companies", true), ("/v2/companies", false), ("/health", false)] {
            let response = service.running.send_request("GET", path, &[], None);
            let headers = (response.header("deprecation"), response.header("sunset"));
            let expected = (Some("@0"), Some("Wed, 30 Jun 2027 00:00:00 GMT"));
            assert_eq!(headers, if is_deprecated { expected } else { (None, None) }, "{path}");
        }
    });
}

/// Reads all events of the feed page by page. Returns the events and the last cursor.
fn read_feed(
    service: &TestService,
    sample: &SampleCompany,
    filter: &str,
    from: &str,
) -> (Vec<Value>, String) {
    let (mut all, mut after) = (Vec::new(), from.to_owned());
    loop {
        let part = service.get(&sample.provider, &format!("/v1/events?limit=3{filter}&after={after}")).json();
        let events = part["events"].as_array().unwrap().clone();
        let next = part["next"].as_str().unwrap().to_owned();
        if next == after {
            assert!(events.is_empty());
            return (all, after);
        }
        all.extend(events);
        after = next;
    }
}

#[test]
fn a_feed_reader_receives_every_event_once() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 100);
        assert_eq!(read_feed(service, &sample, "", "0"), (Vec::new(), "0".to_owned()));
        let send = |count: usize| -> Vec<String> {
            let create_one = |_| {
                let sent = sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 1).json();
                sent["recognitions"][0]["id"].as_str().unwrap().to_owned()
            };
            (0..count).map(create_one).collect()
        };
        let ids = |events: &[Value]| -> Vec<String> {
            events.iter().map(|event| event["id"].as_str().unwrap().to_owned()).collect()
        };
        let first = send(7);
        let (met, after) = read_feed(service, &sample, "", "0");
        assert_eq!(ids(&met), first);
        let then = send(2);
        assert_eq!(ids(&read_feed(service, &sample, "", &after).0), then);
        let expected = json!({"type": "recognition.received", "state": "unaddressed", "attempts": 0});
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&met[0][key], value);
        }
        assert_eq!(met[0]["body"]["data"]["id"], met[0]["id"]);
        assert_eq!(read_feed(service, &sample, "&type=redemption.created", "0").0, Vec::<Value>::new());
        assert_eq!(
            read_feed(service, &sample, "&state=unaddressed&type=recognition.received", "0").0.len(),
            9
        );
        let event = service.get(&sample.provider, &format!("/v1/events/{}", first[0])).json();
        assert_eq!((&event["attempts_log"], &event["body"]), (&json!([]), &met[0]["body"]));
        let other = service.create_provider("Other", false);
        assert_eq!(service.get(&other, "/v1/events").json()["events"], json!([]));
        for wrong in ["limit=0", "after=x", "state=lost", "type=x"] {
            service.get(&sample.provider, &format!("/v1/events?{wrong}")).expect_error(400);
        }
    });
}

#[test]
fn providers_can_replay_their_own_events() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 100);
        let event =
            |response: ApiResponse| response.json()["recognitions"][0]["id"].as_str().unwrap().to_owned();
        let first = event(sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 1));
        let event = service.get(&sample.provider, &format!("/v1/events/{first}")).json();
        let since = event["created_at"].as_str().unwrap().to_owned();
        let replay = |path: &str, body: &Value| service.post(&sample.provider, path, body);
        let replayed = |response: ApiResponse| response.json()["replayed"].as_i64();
        for wrong in
            [json!({}), json!({"state": "delivered"}), json!({"state": "x"}), json!({"since": "today"})]
        {
            replay("/v1/events/replay", &wrong).expect_error(400);
        }
        assert_eq!(replayed(replay("/v1/events/replay", &json!({"state": "exhausted"}))), Some(0));
        assert_eq!(replayed(replay(&format!("/v1/events/{first}/replay"), &json!({}))), Some(1));
        let again = json!({"since": since, "state": "unaddressed"});
        wait_until("the replayed event should be unaddressed again", || {
            let event = service.get(&sample.provider, &format!("/v1/events/{first}")).json();
            (event["state"] == "unaddressed").then_some(())
        });
        assert_eq!(replayed(replay("/v1/events/replay", &again)), Some(1));
        let later = json!({"since": "2100-01-01T00:00:00Z"});
        assert_eq!(replayed(replay("/v1/events/replay", &later)), Some(0));
    });
}

#[test]
fn the_body_of_a_request_without_fields_is_checked() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 100);
        let sent = sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 1).json();
        let event = sent["recognitions"][0]["id"].as_str().unwrap();
        let path = format!("/v1/events/{event}/replay");
        let authorization = basic_authorization(&sample.provider);
        let post = |header: Option<(&str, &str)>, body: Option<&str>| {
            let mut headers = vec![("Authorization", authorization.as_str())];
            if body.is_some() && header.is_none_or(|(name, _)| name != "Content-Type") {
                headers.push(("Content-Type", "application/json"));
            }
            headers.extend(header);
            service.running.send_request("POST", &path, &headers, body)
        };
        for body in ["{", "[]", "{\"a\":1,\"a\":1}"] {
            post(None, Some(body)).expect_error(400);
        }
        post(Some(("Content-Type", "text/plain")), Some("{}")).expect_error(400);
        post(Some(("Content-Encoding", "gzip")), Some("{}")).expect_error(400);
        assert_eq!(post(None, None).status, 200);
        assert_eq!(post(None, Some("{\"a\":1}")).header("x-ignored-fields"), Some("a"));
        let once = Some(("Idempotency-Key", "once"));
        assert_eq!(post(once, None).status, 200);
        assert_eq!(post(once, None).header("idempotency-replayed"), Some("true"));
        post(once, Some("{}")).expect_error(400);
    });
}

/// The replay takes two transactions.
#[test]
fn a_replay_of_many_events_is_complete_and_stored_under_its_key() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 41);
        sample.deposit_points(service, 2_050);
        let receivers: Vec<&str> = sample.users.iter().map(String::as_str).collect();
        for _ in 0..50 {
            assert_eq!(sample.send_recognition(service, &sample.company, &receivers, 1).status, 201);
        }
        let body = json!({"state": "unaddressed"});
        let replay = || {
            post_with_header(service, &sample, "/v1/events/replay", &body, ("Idempotency-Key", "replay-all"))
        };
        let first = replay();
        assert_eq!((first.status, first.json()), (200, json!({"replayed": 2_050})));
        assert_eq!(replay().body, first.body);
    });
}
