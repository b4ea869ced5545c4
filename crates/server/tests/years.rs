//! Long-term operation: finding, correcting, importing and deleting data.

use std::fs;

use guerdon_test_support::record_skip;
use serde_json::{Value, json};

use crate::support::service::Service;
use crate::support::{Sample, first_event, on_each, on_each_with};

fn domain(sample: &Sample) -> String {
    format!("{}.example.com", sample.provider.id)
}

pub fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().unwrap_or_else(|| panic!("{key} of {object}"))
}

#[test]
fn a_reserve_can_be_emptied_and_dollars_convert_to_points() {
    on_each(|service| {
        let sample = Sample::make(service, 1);
        let domain = domain(&sample);
        service.json(&["reserve", "deposit", &domain, "--dollars", "10.02"]);
        let withdraw = ["reserve", "withdraw", &domain, "--points", "1", "--key", "w"];
        let done = service.json(&withdraw);
        assert_eq!(done, json!({"company_id": sample.company, "points": 500}));
        assert_eq!(service.json(&withdraw), done, "once");
        let told = service.guerdon(&withdraw);
        assert!(told.out.contains("already done") && told.out.contains("$10.00"), "{}", told.out);
        let refused = service.guerdon(&["reserve", "withdraw", &sample.company, "--points", "501"]);
        assert_eq!((refused.status, refused.err.contains("500 points")), (1, true), "{}", refused.err);
        let cents = ["reserve", "deposit", &domain, "--dollars", "1", "--key", "d"];
        service.json(&cents);
        let path = format!("/v1/companies/{}", sample.company);
        assert_eq!(service.put(&sample.provider, &path, &json!({"points_per_dollar": 100})).status, 200);
        let told = service.guerdon(&cents);
        assert!(told.status == 0 && told.out.contains("already done"), "{} {}", told.out, told.err);
        assert_eq!(service.put(&sample.provider, &path, &json!({"points_per_dollar": 50})).status, 200);
        service.json(&["reserve", "withdraw", &domain, "--points", "50"]);
        let odd = service.guerdon(&["reserve", "deposit", &domain, "--dollars", "0.01"]);
        assert!(odd.status == 1 && odd.err.contains("whole number of points"), "{}", odd.err);
        for wrong in ["-5", "1,000", "1.5"] {
            let told = service.guerdon(&["reserve", "deposit", &domain, "--points", wrong]);
            assert!(told.status == 2 && told.err.contains("no comma"), "{wrong}: {}", told.err);
        }
        service.json(&["reserve", "withdraw", &domain, "--points", "500"]);
        let path = format!("/v1/companies/{}/reserve/transactions", sample.company);
        let listed = service.get(&sample.provider, &path).json();
        assert_eq!(listed["transactions"][0]["reason"], "withdrawal");
        assert_eq!(service.json(&["reserve", "show", &domain])["points"], 0);
    });
}

#[test]
fn names_work_in_place_of_ids() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        let (domain, email) = (domain(&sample), "u0@example.com");
        sample.fund(service, 10);
        let shown = service.json(&["user", "show", email, "--company", &domain]);
        assert_eq!(text(&shown, "id"), sample.users[0]);
        assert_eq!(service.json(&["company", "show", &domain])["id"], sample.company.as_str());
        let own = service.json(&["company", "list", "--provider", "Sample"]);
        assert_eq!(own.as_array().unwrap().len(), 1);
        let words =
            ["wallet", "override", email, "--company", &domain, "--wallet", "user_wallet", "--points", "0"];
        assert_eq!(service.json(&words)["user_id"], sample.users[0].as_str());
        let nobody = service.guerdon(&["user", "show", "nobody@example.com", "--company", &domain]);
        assert_eq!(nobody.status, 1);
        assert_eq!(service.guerdon(&["user", "show", email]).status, 1, "an email without a company");
        assert_eq!(service.guerdon(&["company", "show", "no-such.example"]).status, 1);
        assert_eq!(service.guerdon(&["company", "show", "no company"]).status, 2);
        service.json(&["provider", "create", "--name", "Sample"]);
        let twice = service.guerdon(&["provider", "set", "Sample", "--suspended", "true"]);
        assert!(twice.status == 1 && twice.err.contains("several"), "{}", twice.err);
    });
}

#[test]
fn the_audit_log_lists_actors_newest_first() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.deposit(service, 100);
        service.json(&["company", "options", &sample.company, "--allow-zero-points", "true"]);
        service.json(&["provider", "rotate", &sample.provider.id, "--shared-secret"]);
        service.json(&["maintenance", "on"]);
        service.json(&["maintenance", "off"]);
        let saml = format!("/v1/companies/{}/saml", sample.company);
        let put = || service.put(&sample.provider, &saml, &json!({"idp_id": "https://idp.example"}));
        while put().status == 503 {} // maintenance ends within a second
        let all = service.json(&["audit", "--limit", "50"]);
        let actions: Vec<&str> = all.as_array().unwrap().iter().map(|entry| text(entry, "action")).collect();
        let newest = [
            "saml.update",
            "maintenance",
            "maintenance",
            "provider.rotate",
            "company.options",
            "reserve.deposit",
        ];
        assert_eq!(actions[..newest.len()], newest);
        assert!(actions.contains(&"company.create") && actions.contains(&"provider.create"), "{actions:?}");
        let saml = &all[0];
        assert_eq!(text(saml, "actor"), format!("provider {}", sample.provider.id));
        assert!(text(&all[5], "actor").starts_with("operator "), "{}", all[5]);
        let own = service.json(&["audit", "--company", &domain(&sample), "--since", "1h", "--limit", "3"]);
        assert_eq!(own.as_array().unwrap().len(), 3);
        assert!(own.as_array().unwrap().iter().all(|entry| entry["company_id"] == sample.company.as_str()));
        let keys: Vec<&String> = saml.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["action", "actor", "at", "company_id", "detail", "object_id"]);
    });
}

#[test]
fn a_statement_adds_up_and_is_reproducible() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 30);
        service.put(
            &sample.provider,
            &format!("/v1/companies/{}", sample.company),
            &json!({"points_per_dollar": 7}),
        );
        service.json(&["reserve", "deposit", &sample.company, "--points", "13"]);
        service.json(&["reserve", "withdraw", &sample.company, "--points", "5"]);
        let lines = service.json(&["statement", &sample.company]);
        let lines = lines.as_array().unwrap();
        let (first, last) = (&lines[0], &lines[lines.len() - 1]);
        assert_eq!((text(first, "reason"), text(last, "reason")), ("opening balance", "closing balance"));
        let nano = |line: &Value| text(line, "balance_dollars").parse::<f64>().unwrap();
        let moved: f64 = lines[1..lines.len() - 1]
            .iter()
            .map(|line| {
                let dollars: f64 = text(line, "dollars").parse().unwrap();
                if text(line, "type") == "credit" { dollars } else { -dollars }
            })
            .sum();
        assert!((nano(first) + moved - nano(last)).abs() < 1e-9, "{lines:#?}");
        assert_eq!(last["balance_points"], service.json(&["reserve", "show", &sample.company])["points"]);
        let csv = service.guerdon(&["statement", &sample.company]).out;
        assert_eq!(csv, service.guerdon(&["statement", &sample.company]).out);
        assert!(
            csv.starts_with("at,place,reason,type,points,dollars,balance_points,balance_dollars,cause\n")
        );
        assert_eq!(csv.lines().count(), lines.len() + 1);
        let wallet = ["statement", &sample.company, "--user", &sample.users[0], "--wallet", "peer_wallet"];
        assert_eq!(service.json(&wallet).as_array().unwrap().len(), 3);
        let later = ["statement", &sample.company, "--from", "2100-01-01T00:00:00Z"];
        let later = service.json(&later);
        assert_eq!(later.as_array().unwrap().len(), 2);
        assert_eq!(later[0]["balance_dollars"], later[1]["balance_dollars"]);
        let reversed = service.guerdon(&["statement", &sample.company, "--from", "1s", "--to", "7d"]);
        assert!(
            reversed.status == 1 && reversed.err.contains("--from must be before --to"),
            "{}",
            reversed.err
        );
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut show = service.command();
        let lost = show.args(["reserve", "show", &sample.company]).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&lost.stderr);
        assert!(lost.status.code() == Some(1) && told.contains("could not be written"), "{told}");
    });
}

#[test]
fn users_are_imported_from_a_file_and_a_second_run_changes_nothing() {
    on_each(|service| {
        let sample = Sample::make(service, 1);
        let file = service.data.path().join("people.csv");
        let head = "employee_id,email,first_name,last_name,manager,title\n";
        let rows =
            "7,ann@example.com,Ann,Lee,true,Boss\n8,bob@example.com,Bob,Ray,,\n9,broken,Cy,Ro,perhaps,\n";
        fs::write(&file, format!("{head}{rows}")).unwrap();
        let empty = service.data.path().join("nobody.csv");
        let run = |more: &[&str]| {
            let file = file.to_str().unwrap();
            service.guerdon(
                &[&["--output", "json", "import", "users", file, "--company", &sample.company], more]
                    .concat(),
            )
        };
        fs::write(&empty, head).unwrap();
        let nobodys = ["import", "users", empty.to_str().unwrap(), "--company", "nowhere.example"];
        let told = service.guerdon(&nobodys);
        assert!(told.status == 1 && told.err.contains("nowhere.example"), "{}", told.err);
        let refused = run(&["--atomic"]);
        let counts = |out: &str| serde_json::from_str::<Value>(out).unwrap();
        assert_eq!(counts(&refused.out), json!({"created": 0, "updated": 0, "unchanged": 0, "refused": 1}));
        let first = run(&[]);
        assert_eq!(first.status, 1);
        assert!(
            first.err.contains("line 4: ") && first.err.contains("email") && first.err.contains("manager"),
            "{}",
            first.err
        );
        assert_eq!(counts(&first.out), json!({"created": 2, "updated": 0, "unchanged": 0, "refused": 1}));
        fs::write(
            &file,
            format!("{head}7,ann@example.com,Ann,Lee,true,Boss\n8,bobby@example.com,Bob,Ray,true,\n"),
        )
        .unwrap();
        assert_eq!(counts(&run(&[]).out), json!({"created": 0, "updated": 1, "unchanged": 1, "refused": 0}));
        let again = run(&["--atomic"]);
        assert_eq!((again.status, counts(&again.out)["unchanged"].clone()), (0, json!(2)));
        let bob = service.json(&["user", "show", "bobby@example.com", "--company", &sample.company]);
        assert_eq!((&bob["employee_id"], &bob["manager"]), (&json!("8"), &json!(true)));
        let lines = service.data.path().join("people.jsonl");
        fs::write(
            &lines,
            "{\"employee_id\":\"7\",\"title\":null}\n{\"email\":\"x@example.com\",\"wage\":1}\n",
        )
        .unwrap();
        let told =
            service.guerdon(&["import", "users", lines.to_str().unwrap(), "--company", &sample.company]);
        assert!(
            told.out.starts_with("0 created, 1 updated") && told.err.contains("wage"),
            "{} {}",
            told.out,
            told.err
        );
    });
}

#[test]
fn completed_records_are_pruned_and_a_deleted_user_can_be_erased() {
    let keep_nothing = [("GUERDON_RETENTION__EVENTS_DAYS", "1"), ("GUERDON_RETENTION__MAILS_DAYS", "0")];
    on_each_with(&keep_nothing, |service| {
        let sample = Sample::make(service, 3);
        sample.fund(service, 10);
        assert_eq!(sample.send(service, &sample.users[0], &[&sample.users[1]], 5).status, 201);
        let gone = service.json(&["prune"]);
        let counts = ["events", "mails", "idempotency_records"].map(|name| gone[name].clone());
        assert_eq!(counts, [0, 0, 0].map(Value::from), "nothing is old enough: {gone}");
        let user = &sample.users[1];
        assert_eq!(service.guerdon(&["user", "erase", user]).status, 1, "an active user cannot be erased");
        assert_eq!(service.delete(&sample.provider, &format!("/v1/users/{user}")).status, 204);
        service.json(&["user", "erase", user]);
        let shown = service.get(&sample.provider, &format!("/v1/users/{user}")).json();
        assert_eq!((&shown["first_name"], &shown["last_name"]), (&json!("erased"), &json!("")));
        assert!(text(&shown, "email").ends_with("@erased.invalid"), "{shown}");
        let data = &first_event(service, &sample.provider)["body"]["data"];
        assert_eq!((&data["receiver_name"], &data["receiver_id"]), (&json!("erased"), &json!(user)));
        assert_ne!(data["sender_name"], "erased");
        service.json(&["user", "erase", user]);
    });
}

#[test]
fn global_occasions_are_listed_changed_and_removed() {
    on_each(|service| {
        let words =
            ["occasion", "create-global", "--name", "Joy", "--title", "Joy!", "--default-message", "Yes"];
        let id = text(&service.json(&words), "id").to_owned();
        assert_eq!(service.json(&["occasion", "set-global", &id, "--enabled", "false"])["enabled"], false);
        assert_eq!(service.json(&["occasion", "list-global"])[0]["enabled"], false);
        service.json(&["occasion", "delete-global", &id]);
        assert_eq!(service.json(&["occasion", "list-global"]), json!([]));
        assert_eq!(service.guerdon(&["occasion", "delete-global", &id]).status, 1);
    });
}

#[test]
fn mails_are_listed_and_tested_and_the_service_reports_its_status() {
    on_each(|service: &mut Service| {
        assert_eq!(service.json(&["mail", "list", "--state", "given-up"]), json!([]));
        assert_eq!(service.guerdon(&["mail", "retry", "01a2052a-e21a-709c-95a1-218edf798ec9"]).status, 1);
        let sent = service.guerdon(&["mail", "test", "somebody@example.com"]);
        assert!(sent.status == 0 && sent.out.contains("written"), "{} {}", sent.out, sent.err);
        assert_eq!(service.json(&["audit"])[0]["action"], "mail.test");
        let operator = service.running.operator.trim_start_matches("http://").to_owned();
        let asked = service
            .command()
            .env("GUERDON_OPERATOR__LISTEN", operator)
            .args(["--output", "json", "status"])
            .output();
        let status: Value = serde_json::from_slice(&asked.unwrap().stdout).unwrap();
        let keys = [
            "certificate_expires_at",
            "database",
            "events_pending",
            "listen",
            "mails_waiting",
            "maintenance",
            "oldest_event_seconds",
            "operator_listen",
            "seal",
            "uptime_seconds",
            "version",
        ];
        assert_eq!(status.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    });
}

/// The metadata of an identity provider, with a certificate that the test created.
pub fn metadata(service: &Service) -> String {
    let pem = fs::read_to_string(service.data.path().join("tls/certificate.pem")).unwrap();
    let first = pem.split("-----END").next().unwrap();
    let digits: String = first.lines().filter(|line| !line.starts_with("-----")).collect();
    format!(
        r#"<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example"><IDPSSODescriptor><KeyDescriptor use="signing"><X509Certificate>{digits}</X509Certificate></KeyDescriptor><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/></IDPSSODescriptor></EntityDescriptor>"#
    )
}

#[test]
fn single_sign_on_is_set_up_from_metadata() {
    on_each(|service| {
        let sample = Sample::make(service, 1);
        let file = service.data.path().join("idp.xml");
        fs::write(&file, metadata(service)).unwrap();
        let shown = service.json(&["saml", "import", &domain(&sample), file.to_str().unwrap()]);
        let sp = format!("https://localhost:8443/saml/{}", domain(&sample));
        let expected = json!({"idp_id": "https://idp.example", "idp_url": "https://idp.example/sso", "sp_id": sp, "active": false});
        assert_eq!(shown, expected);
        assert_eq!(service.json(&["saml", "show", &sample.company]), expected);
        assert!(service.guerdon(&["saml", "show", &sample.company]).out.contains(&sp));
        fs::write(&file, "<x/>").unwrap();
        let refused = service.guerdon(&["saml", "import", &sample.company, file.to_str().unwrap()]);
        assert!(refused.status == 1 && refused.err.contains("no identity provider"), "{}", refused.err);
    });
}

#[test]
fn check_tries_the_files_and_servers_in_the_settings() {
    on_each(|service| {
        let tried = service.guerdon(&["config", "check", "--connect"]);
        assert_eq!(tried.status, 0, "{}", tried.err);
        for part in ["data folder: ", "database: ", "mail: "] {
            assert!(tried.out.contains(part), "{}", tried.out);
        }
        let mut wrong = service.command();
        wrong
            .env("GUERDON_MAIL__SMTP_URL", "smtp://127.0.0.1:1?tls=none")
            .env("GUERDON_MAIL__FROM", "a@a.example");
        let told = wrong.args(["config", "check", "--connect"]).output().unwrap();
        assert_eq!(told.status.code(), Some(1), "{}", String::from_utf8_lossy(&told.stdout));
        if service.database.is_embedded() {
            let fresh = tempfile::tempdir().unwrap();
            let run = |key: &str, words: &[&str]| {
                let mut command = service.command();
                command.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", fresh.path());
                let told = command.env("GUERDON_MASTER_KEY", key.repeat(64)).args(words).output().unwrap();
                (told.status.code(), String::from_utf8([told.stdout, told.stderr].concat()).unwrap())
            };
            assert_eq!(run("a", &["migrate"]).0, Some(0));
            let told = run("a", &["config", "check", "--connect"]);
            assert!(told.0 == Some(0) && told.1.contains("no master key yet"), "{told:?}");
            assert_eq!(run("b", &["provider", "list"]).0, Some(0));
            let told = run("a", &["config", "check", "--connect"]);
            assert!(
                told.0 == Some(0) && told.1.contains("no master key yet"),
                "a command that reads stores nothing"
            );
            assert_eq!(run("b", &["provider", "create", "--name", "Acme"]).0, Some(0));
            let told = run("a", &["config", "check", "--connect"]);
            assert!(told.0 == Some(1) && told.1.contains("fingerprint"), "{told:?}");
        }
    });
}

#[test]
fn commands_create_no_files_in_another_users_folder() {
    on_each(|service| {
        let folder = tempfile::tempdir().unwrap();
        if std::os::unix::fs::chown(folder.path(), Some(65_534), None).is_err() {
            return record_skip("only root can give a folder to another user");
        }
        for command in ["migrate", "serve"] {
            let mut run = service.command();
            run.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", folder.path());
            let refused = run.arg(command).output().unwrap();
            let told = String::from_utf8_lossy(&refused.stderr);
            assert!(
                refused.status.code() == Some(1) && told.contains("run this command as that user"),
                "{told}"
            );
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    });
}
