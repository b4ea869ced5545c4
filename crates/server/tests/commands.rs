//! The commands, with and without a running service.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::service::{ProviderCredentials, TestService};
use crate::support::{SampleCompany, for_each_database, run_on_sqlite, wait_at_most};

#[test]
fn providers_are_created_listed_changed_and_given_new_secrets() {
    for_each_database(|service| {
        let made = service.run_json_command(&[
            "provider",
            "create",
            "--name",
            "Acme",
            "--callback-url",
            "https://acme.example.com/hook/",
        ]);
        let keys: Vec<&String> = made.as_object().unwrap().keys().collect();
        let fields = [
            "id",
            "name",
            "api_key",
            "api_secret",
            "shared_secret",
            "callback_url",
            "manages_all_domain_resources",
        ];
        let mut expected = fields.to_vec();
        expected.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(made["callback_url"], "https://acme.example.com/hook/");
        let id = made["id"].as_str().unwrap();
        let listed = service.run_json_command(&["provider", "list"]);
        let row = &listed.as_array().unwrap()[0];
        assert_eq!((&row["id"], &row["suspended"]), (&made["id"], &json!(false)));
        assert!(row.get("api_secret").is_none() && row.get("shared_secret").is_none());
        service.run_json_command(&["provider", "set", id, "--name", "Acme 2", "--no-callback-url"]);
        let row = service.run_json_command(&["provider", "list"])[0].clone();
        assert_eq!((&row["name"], &row["callback_url"]), (&json!("Acme 2"), &Value::Null));
        check_rotation(service, &made);
    });
}

#[test]
fn a_start_without_providers_logs_how_to_create_one() {
    for_each_database(|service| {
        let hint = "no provider exists yet";
        assert_eq!(service.wait_for_log(hint), 1);
        assert_eq!(service.wait_for_log("provider create --name"), 1);
        service.create_provider("Acme", false);
        service.running.terminate().unwrap();
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        service.restart();
        service.running.terminate().unwrap();
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        assert_eq!(service.wait_for_log("stopped duration_ms="), 1);
        assert_eq!(service.running.count_in_log(hint), 0);
    });
}

fn check_rotation(service: &TestService, made: &Value) {
    let text = |object: &Value, key: &str| object[key].as_str().unwrap().to_owned();
    let old = ProviderCredentials {
        id: text(made, "id"),
        api_key: text(made, "api_key"),
        api_secret: text(made, "api_secret"),
    };
    assert_eq!(service.get(&old, "/v1/companies/example.com").status, 404);
    let rotated = service.run_json_command(&["provider", "rotate", &old.id, "--api-secret"]);
    let new = ProviderCredentials { api_secret: text(&rotated, "api_secret"), ..old.clone() };
    assert_eq!(service.get(&new, "/v1/companies/example.com").status, 404);
    wait_at_most(Duration::from_secs(1), "the old secret still works", || {
        (service.get(&old, "/v1/companies/example.com").status == 401).then_some(())
    });
    let shared = service.run_json_command(&["provider", "rotate", &old.id, "--shared-secret"]);
    assert_ne!(shared["shared_secret"], made["shared_secret"]);
    assert_eq!(service.run_command(&["provider", "rotate", &old.id]).status, 2);
}

#[test]
fn money_commands_can_be_retried_with_a_key() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 3);
        let deposit = ["reserve", "deposit", &sample.company, "--points", "100", "--key", "d1"];
        let first = service.run_json_command(&deposit);
        assert_eq!(first, json!({"company_id": sample.company, "points": 100}));
        assert_eq!(service.run_json_command(&deposit), first);
        let other =
            service.run_command(&["reserve", "deposit", &sample.company, "--points", "101", "--key", "d1"]);
        assert_eq!(other.status, 1);
        assert!(other.stderr.contains("key"), "{}", other.stderr);
        let run = [
            "distribution",
            "run",
            &sample.company,
            "--wallet",
            "peer_wallet",
            "--points",
            "10",
            "--key",
            "r1",
        ];
        let ran = service.run_json_command(&run);
        assert_eq!(ran, json!({"company_id": sample.company, "users": 4, "points": 10}));
        assert_eq!(service.run_json_command(&run), ran);
        assert_eq!(service.run_json_command(&["reserve", "show", &sample.company])["points"], 60);
        let points_every_week = |points| {
            let (wallet, start) = (["--wallet", "peer_wallet"], ["--every", "week", "--start", "2100-01-01"]);
            let words = ["distribution", "schedule", &sample.company, "--points", points, "--key", "s1"];
            [&words[..], &wallet, &start].concat()
        };
        let scheduled = service.run_json_command(&points_every_week("1"));
        assert_eq!(service.run_json_command(&points_every_week("1")), scheduled);
        let other = service.run_command(&points_every_week("2"));
        assert!(other.status == 1 && other.stderr.contains("different command"), "{}", other.stderr);
        let schedules = service.run_json_command(&["distribution", "list", &sample.company]);
        assert_eq!(schedules.as_array().unwrap().len(), 1);
        let too_much = service.run_command(&[
            "distribution",
            "run",
            &sample.company,
            "--wallet",
            "peer_wallet",
            "--points",
            "16",
        ]);
        assert_eq!(too_much.status, 1);
        assert_eq!(too_much.stderr.trim().lines().count(), 1);
        assert_eq!(service.run_json_command(&["reserve", "show", &sample.company])["points"], 60);
    });
}

#[test]
fn a_money_command_for_an_email_can_be_retried_after_the_user_changed_it() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        let company = sample.company.as_str();
        service.run_json_command(&["reserve", "deposit", company, "--points", "100"]);
        let user = ["U0@example.com", "--company", company, "--points", "10", "--key"];
        let wallet = ["--wallet", "user_wallet"];
        let distribution = ["--user", "u0@example.com", "--points", "20", "--key", "k1"];
        let commands = [
            [&["distribution", "run", company], &wallet[..], &distribution].concat(),
            [&["redemption", "create"], &user[..], &["k2"]].concat(),
            [&["wallet", "override"], &user[..], &["k3"], &wallet].concat(),
        ];
        let outputs: Vec<Value> = commands.iter().map(|words| service.run_json_command(words)).collect();
        for (user, name) in [(&sample.users[0], "renamed"), (&sample.users[1], "u0")] {
            let body = json!({"email": format!("{name}@example.com")});
            assert_eq!(service.put(&sample.provider, &format!("/v1/users/{user}"), &body).status, 200);
            for (words, output) in commands.iter().zip(&outputs) {
                assert_eq!(service.run_json_command(words), *output, "{words:?}");
            }
        }
        assert_eq!(service.run_json_command(&["reserve", "show", company])["points"], 80);
    });
}

#[test]
fn invalid_arguments_fail_with_one_line_and_the_right_status() {
    for_each_database(|service| {
        let absent = "0193a5c0-0000-7000-8000-000000000001";
        let check = |words: &[&str], status: i32| {
            let printed = service.run_command(words);
            assert_eq!(printed.status, status, "{words:?}: {} {}", printed.stdout, printed.stderr);
            assert_eq!(printed.stdout, "", "{words:?}");
            if status == 1 {
                assert_eq!(printed.stderr.trim_end().lines().count(), 1, "{words:?}: {}", printed.stderr);
            }
        };
        check(&["reserve", "show", absent], 1);
        check(&["reserve", "deposit", absent, "--points", "1"], 1);
        check(&["company", "options", absent, "--allow-zero-points", "true"], 1);
        check(&["provider", "set", absent, "--suspended", "true"], 1);
        check(&["provider", "create", "--name", "x", "--callback-url", "http://example.com"], 1);
        check(&["provider", "create", "--name", "x", "--callback-url", "https://127.0.0.1/hook"], 1);
        check(&["provider", "create"], 2);
        check(&["reserve", "deposit", absent, "--points", "0"], 1);
        check(&["reserve", "deposit", absent, "--points", "many"], 2);
        check(&["nonsense"], 2);
    });
}

#[test]
fn commands_work_without_a_service_and_never_create_a_database() {
    for_each_database(|service| {
        let provider = service.create_provider("Acme", false);
        service.running.terminate().unwrap();
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        assert_eq!(service.run_json_command(&["provider", "list"])[0]["id"], provider.id);
        assert_eq!(service.run_command(&["verify"]).status, 0);
        let missing = service.data_dir.path().join("none.db");
        let url = format!("sqlite://{}", missing.display());
        let output = service
            .build_command()
            .env("GUERDON_DATABASE__URL", url)
            .args(["provider", "list"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(!missing.exists());
        service.restart();
    });
}

#[test]
fn the_zero_points_option_and_global_occasions_reach_the_api() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let user = sample.users[0].as_str();
        let refused = sample.send_recognition(service, &sample.company, &[user], 0).expect_error(400);
        assert_eq!(refused, "Invalid points_per_receiver, value must be between 1 and 250000");
        service.run_json_command(&["company", "options", &sample.company, "--allow-zero-points", "true"]);
        assert_eq!(sample.send_recognition(service, &sample.company, &[user], 0).status, 201);
        let refused = sample.send_recognition(service, &sample.company, &[user], -1).expect_error(400);
        assert_eq!(refused, "Invalid points_per_receiver, value must be between 0 and 250000");
        let words =
            ["occasion", "create-global", "--name", "Hello", "--title", "Hi", "--default-message", "Hey"];
        let occasion = service.run_json_command(&words);
        assert_eq!((&occasion["company_id"], &occasion["global"]), (&Value::Null, &json!(true)));
        let fetched =
            service.get(&sample.provider, &format!("/v1/occasions/{}", occasion["id"].as_str().unwrap()));
        assert_eq!(fetched.json(), occasion);
        let mut body = sample.recognition_body("company", &sample.company, &[user], 0);
        body["occasion_id"] = occasion["id"].clone();
        let sent = service.post(&sample.provider, "/v1/recognitions", &body);
        assert_eq!(sent.json()["recognitions"][0]["message"], "Hey");
    });
}

#[test]
fn another_master_key_and_a_second_service_are_refused() {
    for_each_database(|service| {
        service.create_provider("Acme", false);
        let other = "ff".repeat(32);
        if service.database.is_embedded() {
            let second = service.build_command().arg("serve").output().unwrap();
            assert_eq!(second.status.code(), Some(1));
            let err = String::from_utf8(second.stderr).unwrap();
            assert!(err.contains("another process"), "{err}");
        }
        service.running.kill().unwrap();
        let refused =
            service.build_command().env("GUERDON_MASTER_KEY", &other).arg("serve").output().unwrap();
        assert_eq!(refused.status.code(), Some(1));
        let err = String::from_utf8(refused.stderr).unwrap();
        assert!(err.contains("master"), "{err}");
        assert!(!err.contains(&other));
        service.restart();
    });
}

#[test]
fn settings_are_checked_and_shown_without_secrets() {
    for_each_database(|service| {
        let shown = service.run_command(&["config", "show"]);
        assert_eq!(shown.status, 0, "{}", shown.stderr);
        assert!(!shown.stdout.contains("000102030405"), "{}", shown.stdout);
        assert_eq!(service.run_command(&["config", "check"]).status, 0);
        let unknown = service
            .build_command()
            .env("GUERDON_HTTP__LISTNE", "x")
            .args(["config", "check"])
            .output()
            .unwrap();
        assert_eq!(unknown.status.code(), Some(1));
        let err = String::from_utf8(unknown.stderr).unwrap();
        assert!(err.to_lowercase().contains("listne"), "{err}");
    });
}

#[test]
fn config_check_parses_the_trusted_certificates() {
    run_on_sqlite(|service| {
        let roots = service.data_dir.path().join("roots.pem");
        std::fs::write(&roots, "no certificate").unwrap();
        let mut check = service.build_command();
        let checked =
            check.env("GUERDON_WEBHOOKS__EXTRA_ROOTS", roots).args(["config", "check"]).output().unwrap();
        assert_eq!(checked.status.code(), Some(1));
        let error = String::from_utf8(checked.stderr).unwrap();
        assert!(error.contains("webhooks.extra_roots: the trusted roots are not certificates"), "{error}");
    });
}

#[test]
fn a_command_of_another_version_is_refused_by_the_running_service() {
    run_on_sqlite(|service| {
        for version in ["", r#""version": "0.0.1", "#] {
            let mut stream = UnixStream::connect(service.data_dir.path().join("guerdon.sock")).unwrap();
            let line =
                format!("{{{version}\"database\": \"x\", \"by\": null, \"command\": {{\"seal\": {{}}}}}}\n");
            stream.write_all(line.as_bytes()).unwrap();
            let mut reply = String::new();
            BufReader::new(&stream).read_line(&mut reply).unwrap();
            assert!(reply.contains("refused") && reply.contains("version"), "{reply}");
        }
    });
}

#[test]
fn a_request_without_its_final_line_feed_is_not_run() {
    run_on_sqlite(|service| {
        let mut stream = UnixStream::connect(service.data_dir.path().join("guerdon.sock")).unwrap();
        stream
            .write_all(br#"{"version": "0.0.1", "database": "x", "by": null, "command": {"seal": {}}}"#)
            .unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert_eq!(reply, "");
    });
}

#[test]
fn a_company_given_with_a_user_must_be_the_users_company() {
    for_each_database(|service| {
        let (sample, other) = (SampleCompany::create(service, 1), SampleCompany::create(service, 1));
        sample.deposit_points(service, 100);
        service.run_json_command(&[
            "wallet",
            "override",
            &sample.users[0],
            "--wallet",
            "user_wallet",
            "--points",
            "10",
        ]);
        let spend = |company: &str| {
            service.run_command(&[
                "redemption",
                "create",
                &sample.users[0],
                "--company",
                company,
                "--points",
                "1",
            ])
        };
        let refused = spend(&other.company);
        assert!(refused.status == 1 && refused.stderr.contains("no user of company"), "{}", refused.stderr);
        assert_eq!(spend(&sample.company).status, 0);
        let user = &sample.users[0];
        assert_eq!(service.delete(&sample.provider, &format!("/v1/users/{user}")).status, 204);
        let listed = |words: &[&str]| {
            service.run_json_command(&[&["user", "list", "--company", &sample.company], words].concat())
        };
        assert!(listed(&[]).as_array().unwrap().iter().all(|row| row["id"] != **user));
        assert!(listed(&["--deleted"]).as_array().unwrap().iter().any(|row| row["id"] == **user));
    });
}
