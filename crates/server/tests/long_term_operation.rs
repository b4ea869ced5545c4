//! Long-term operation: finding, correcting, importing and deleting data.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::service::TestService;
use crate::support::{
    SampleCompany, for_each_database, for_each_database_with, run_on_postgres, wait_for_first_event,
    wait_until,
};

fn sample_domain(sample: &SampleCompany) -> String {
    format!("{}.example.com", sample.provider.id)
}

pub fn text_field<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().unwrap_or_else(|| panic!("{key} of {object}"))
}

#[test]
fn a_reserve_can_be_emptied_and_dollars_convert_to_points() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let domain = sample_domain(&sample);
        service.run_json_command(&["reserve", "deposit", &domain, "--dollars", "10.02"]);
        let withdraw = ["reserve", "withdraw", &domain, "--points", "1", "--key", "w"];
        let withdrawal = service.run_json_command(&withdraw);
        assert_eq!(withdrawal, json!({"company_id": sample.company, "points": 500}));
        assert_eq!(service.run_json_command(&withdraw), withdrawal, "once");
        let output = service.run_command(&withdraw);
        assert!(
            output.stdout.contains("already done") && output.stdout.contains("$10.00"),
            "{}",
            output.stdout
        );
        let refused = service.run_command(&["reserve", "withdraw", &sample.company, "--points", "501"]);
        assert_eq!((refused.status, refused.stderr.contains("500 points")), (1, true), "{}", refused.stderr);
        let cents = ["reserve", "deposit", &domain, "--dollars", "1", "--key", "d"];
        service.run_json_command(&cents);
        let path = format!("/v1/companies/{}", sample.company);
        assert_eq!(service.put(&sample.provider, &path, &json!({"points_per_dollar": 100})).status, 200);
        let output = service.run_command(&cents);
        assert!(
            output.status == 0 && output.stdout.contains("already done"),
            "{} {}",
            output.stdout,
            output.stderr
        );
        assert_eq!(service.put(&sample.provider, &path, &json!({"points_per_dollar": 50})).status, 200);
        service.run_json_command(&["reserve", "withdraw", &domain, "--points", "50"]);
        let odd = service.run_command(&["reserve", "deposit", &domain, "--dollars", "0.01"]);
        assert!(odd.status == 1 && odd.stderr.contains("whole number of points"), "{}", odd.stderr);
        for wrong in ["-5", "1,000", "1.5"] {
            let output = service.run_command(&["reserve", "deposit", &domain, "--points", wrong]);
            assert!(output.status == 2 && output.stderr.contains("no comma"), "{wrong}: {}", output.stderr);
        }
        service.run_json_command(&["reserve", "withdraw", &domain, "--points", "500"]);
        let path = format!("/v1/companies/{}/reserve/transactions", sample.company);
        let listed = service.get(&sample.provider, &path).json();
        assert_eq!(listed["transactions"][0]["reason"], "withdrawal");
        assert_eq!(service.run_json_command(&["reserve", "show", &domain])["points"], 0);
    });
}

#[test]
fn names_work_in_place_of_ids() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        let (domain, email) = (sample_domain(&sample), "u0@example.com");
        sample.fund_peer_wallets(service, 10);
        let shown = service.run_json_command(&["user", "show", email, "--company", &domain]);
        assert_eq!(text_field(&shown, "id"), sample.users[0]);
        let wallets = json!([
            {"type": "user_wallet", "points": 0, "cumulative_points_spent": 0},
            {"type": "peer_wallet", "points": 10, "cumulative_points_spent": 0},
        ]);
        assert_eq!(shown["wallets"], wallets);
        let text = service.run_command(&["user", "show", email, "--company", &domain]).stdout;
        for part in ["peer_wallet", "POINTS SPENT", "department", &domain] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert_eq!(service.run_json_command(&["company", "show", &domain])["id"], sample.company.as_str());
        let companies = service.run_json_command(&["company", "list", "--provider", "Sample"]);
        assert_eq!(companies.as_array().unwrap().len(), 1);
        let words =
            ["wallet", "override", email, "--company", &domain, "--wallet", "user_wallet", "--points", "0"];
        assert_eq!(service.run_json_command(&words)["user_id"], sample.users[0].as_str());
        let nobody = service.run_command(&["user", "show", "nobody@example.com", "--company", &domain]);
        assert_eq!(nobody.status, 1);
        assert_eq!(service.run_command(&["user", "show", email]).status, 1, "an email without a company");
        assert_eq!(service.run_command(&["company", "show", "no-such.example"]).status, 1);
        assert_eq!(service.run_command(&["company", "show", "no company"]).status, 2);
        service.run_json_command(&["provider", "create", "--name", "Sample"]);
        let twice = service.run_command(&["provider", "set", "Sample", "--suspended", "true"]);
        assert!(twice.status == 1 && twice.stderr.contains("several"), "{}", twice.stderr);
    });
}

#[test]
fn the_audit_log_lists_actors_newest_first() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.deposit_points(service, 100);
        service.run_json_command(&["company", "options", &sample.company, "--allow-zero-points", "true"]);
        service.run_json_command(&["provider", "rotate", &sample.provider.id, "--shared-secret"]);
        service.run_json_command(&["maintenance", "on"]);
        service.run_json_command(&["maintenance", "off"]);
        let saml = format!("/v1/companies/{}/saml", sample.company);
        let put = || service.put(&sample.provider, &saml, &json!({"idp_id": "https://idp.example"}));
        wait_until("maintenance should end", || (put().status != 503).then_some(()));
        let all = service.run_json_command(&["audit", "--limit", "50"]);
        let actions: Vec<&str> =
            all.as_array().unwrap().iter().map(|entry| text_field(entry, "action")).collect();
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
        assert_eq!(text_field(saml, "actor"), format!("provider {}", sample.provider.id));
        assert!(text_field(&all[5], "actor").starts_with("operator "), "{}", all[5]);
        let entries = service.run_json_command(&[
            "audit",
            "--company",
            &sample_domain(&sample),
            "--since",
            "1h",
            "--limit",
            "3",
        ]);
        assert_eq!(entries.as_array().unwrap().len(), 3);
        assert!(
            entries.as_array().unwrap().iter().all(|entry| entry["company_id"] == sample.company.as_str())
        );
        let keys: Vec<&String> = saml.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["action", "actor", "at", "company_id", "detail", "object_id"]);
    });
}

#[test]
fn a_statement_adds_up_and_is_reproducible() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 30);
        service.put(
            &sample.provider,
            &format!("/v1/companies/{}", sample.company),
            &json!({"points_per_dollar": 7}),
        );
        service.run_json_command(&["reserve", "deposit", &sample.company, "--points", "13"]);
        service.run_json_command(&["reserve", "withdraw", &sample.company, "--points", "5"]);
        let lines = service.run_json_command(&["statement", &sample.company]);
        let lines = lines.as_array().unwrap();
        let (first, last) = (&lines[0], &lines[lines.len() - 1]);
        assert_eq!(
            (text_field(first, "reason"), text_field(last, "reason")),
            ("opening balance", "closing balance")
        );
        let nano = |line: &Value| text_field(line, "balance_dollars").parse::<f64>().unwrap();
        let moved: f64 = lines[1..lines.len() - 1]
            .iter()
            .map(|line| {
                let dollars: f64 = text_field(line, "dollars").parse().unwrap();
                if text_field(line, "type") == "credit" { dollars } else { -dollars }
            })
            .sum();
        assert!((nano(first) + moved - nano(last)).abs() < 1e-9, "{lines:#?}");
        assert_eq!(
            last["balance_points"],
            service.run_json_command(&["reserve", "show", &sample.company])["points"]
        );
        let csv = service.run_command(&["statement", &sample.company]).stdout;
        assert_eq!(csv, service.run_command(&["statement", &sample.company]).stdout);
        assert!(
            csv.starts_with("at,place,reason,type,points,dollars,balance_points,balance_dollars,cause\n")
        );
        assert_eq!(csv.lines().count(), lines.len() + 1);
        let wallet = ["statement", &sample.company, "--user", &sample.users[0], "--wallet", "peer_wallet"];
        assert_eq!(service.run_json_command(&wallet).as_array().unwrap().len(), 3);
        let later = ["statement", &sample.company, "--from", "2100-01-01T00:00:00Z"];
        let later = service.run_json_command(&later);
        assert_eq!(later.as_array().unwrap().len(), 2);
        assert_eq!(later[0]["balance_dollars"], later[1]["balance_dollars"]);
        let reversed = service.run_command(&["statement", &sample.company, "--from", "1s", "--to", "7d"]);
        assert!(
            reversed.status == 1 && reversed.stderr.contains("--from must be before --to"),
            "{}",
            reversed.stderr
        );
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut show = service.build_command();
        let lost = show.args(["reserve", "show", &sample.company]).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&lost.stderr);
        assert!(lost.status.code() == Some(1) && stderr.contains("could not be written"), "{stderr}");
    });
}

#[test]
fn users_are_imported_from_a_file_and_a_second_run_changes_nothing() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let file = service.data_dir.path().join("people.csv");
        let head = "employee_id,email,first_name,last_name,manager,title\n";
        let rows =
            "7,ann@example.com,Ann,Lee,true,Boss\n8,bob@example.com,Bob,Ray,,\n9,broken,Cy,Ro,perhaps,\n";
        fs::write(&file, format!("{head}{rows}")).unwrap();
        let empty = service.data_dir.path().join("nobody.csv");
        let run = |more: &[&str]| {
            let file = file.to_str().unwrap();
            service.run_command(
                &[&["--output", "json", "import", "users", file, "--company", &sample.company], more]
                    .concat(),
            )
        };
        fs::write(&empty, head).unwrap();
        let nobodys = ["import", "users", empty.to_str().unwrap(), "--company", "nowhere.example"];
        let output = service.run_command(&nobodys);
        assert!(output.status == 1 && output.stderr.contains("nowhere.example"), "{}", output.stderr);
        let refused = run(&["--atomic"]);
        let counts = |out: &str| serde_json::from_str::<Value>(out).unwrap();
        assert_eq!(
            counts(&refused.stdout),
            json!({"created": 0, "updated": 0, "unchanged": 0, "refused": 1})
        );
        let first = run(&[]);
        assert_eq!(first.status, 1);
        assert!(
            first.stderr.contains("line 4: ")
                && first.stderr.contains("email")
                && first.stderr.contains("manager"),
            "{}",
            first.stderr
        );
        assert_eq!(counts(&first.stdout), json!({"created": 2, "updated": 0, "unchanged": 0, "refused": 1}));
        fs::write(
            &file,
            format!("{head}7,ann@example.com,Ann,Lee,true,Boss\n8,bobby@example.com,Bob,Ray,true,\n"),
        )
        .unwrap();
        assert_eq!(
            counts(&run(&[]).stdout),
            json!({"created": 0, "updated": 1, "unchanged": 1, "refused": 0})
        );
        let again = run(&["--atomic"]);
        assert_eq!((again.status, counts(&again.stdout)["unchanged"].clone()), (0, json!(2)));
        let bob =
            service.run_json_command(&["user", "show", "bobby@example.com", "--company", &sample.company]);
        assert_eq!((&bob["employee_id"], &bob["manager"]), (&json!("8"), &json!(true)));
        assert_jsonl_import(service, &sample.company);
    });
}

/// Imports a JSON Lines file, whose second line is refused because of an unknown field.
fn assert_jsonl_import(service: &TestService, company: &str) {
    let lines = service.data_dir.path().join("people.jsonl");
    fs::write(&lines, "{\"employee_id\":\"7\",\"title\":null}\n{\"email\":\"x@example.com\",\"wage\":1}\n")
        .unwrap();
    let output = service.run_command(&["import", "users", lines.to_str().unwrap(), "--company", company]);
    assert!(
        output.stdout.starts_with("0 created, 1 updated") && output.stderr.contains("wage"),
        "{} {}",
        output.stdout,
        output.stderr
    );
}

#[test]
fn completed_records_are_pruned_and_a_deleted_user_can_be_erased() {
    let keep_nothing = [("GUERDON_RETENTION__EVENTS_DAYS", "1"), ("GUERDON_RETENTION__MAILS_DAYS", "0")];
    for_each_database_with(&keep_nothing, |service| {
        let sample = SampleCompany::create(service, 3);
        sample.fund_peer_wallets(service, 10);
        assert_eq!(sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 5).status, 201);
        let pruned = service.run_json_command(&["prune"]);
        let counts = ["events", "mails", "idempotency_records"].map(|name| pruned[name].clone());
        assert_eq!(counts, [0, 0, 0].map(Value::from), "nothing is old enough: {pruned}");
        let user = &sample.users[1];
        assert_eq!(
            service.run_command(&["user", "erase", user]).status,
            1,
            "an active user cannot be erased"
        );
        assert_eq!(service.delete(&sample.provider, &format!("/v1/users/{user}")).status, 204);
        service.run_json_command(&["user", "erase", user]);
        let shown = service.get(&sample.provider, &format!("/v1/users/{user}")).json();
        assert_eq!((&shown["first_name"], &shown["last_name"]), (&json!("erased"), &json!("")));
        assert!(text_field(&shown, "email").ends_with("@erased.invalid"), "{shown}");
        let data = &wait_for_first_event(service, &sample.provider)["body"]["data"];
        assert_eq!((&data["receiver_name"], &data["receiver_id"]), (&json!("erased"), &json!(user)));
        assert_ne!(data["sender_name"], "erased");
        service.run_json_command(&["user", "erase", user]);
    });
}

#[test]
fn prune_creates_event_partitions() {
    run_on_postgres(|service| {
        let partitions = || service.database.count_rows("pg_inherits WHERE inhparent = 'events'::regclass");
        let before = partitions();
        let mut prune = service.build_command();
        let output = prune.env("GUERDON_RETENTION__EVENTS_DAYS", "3650").arg("prune").output().unwrap();
        assert!(output.status.success() && partitions() > before, "a longer period needs more: {output:?}");
    });
}

#[test]
fn global_occasions_are_listed_changed_and_removed() {
    for_each_database(|service| {
        let words =
            ["occasion", "create-global", "--name", "Joy", "--title", "Joy!", "--default-message", "Yes"];
        let id = text_field(&service.run_json_command(&words), "id").to_owned();
        assert_eq!(
            service.run_json_command(&["occasion", "set-global", &id, "--enabled", "false"])["enabled"],
            false
        );
        assert_eq!(service.run_json_command(&["occasion", "list-global"])[0]["enabled"], false);
        service.run_json_command(&["occasion", "delete-global", &id]);
        assert_eq!(service.run_json_command(&["occasion", "list-global"]), json!([]));
        assert_eq!(service.run_command(&["occasion", "delete-global", &id]).status, 1);
    });
}

#[test]
fn mails_are_listed_and_tested_and_the_service_reports_its_status() {
    for_each_database(|service: &mut TestService| {
        assert_eq!(service.run_json_command(&["mail", "list", "--state", "given-up"]), json!([]));
        assert_eq!(service.run_command(&["mail", "retry", "01a2052a-e21a-709c-95a1-218edf798ec9"]).status, 1);
        let sent = service.run_command(&["mail", "test", "somebody@example.com"]);
        assert!(sent.status == 0 && sent.stdout.contains("written"), "{} {}", sent.stdout, sent.stderr);
        assert_eq!(service.run_json_command(&["audit"])[0]["action"], "mail.test");
        let status = read_status(service);
        let keys = [
            "certificate_expires_at",
            "database",
            "events_pending",
            "last_backup_at",
            "last_prune",
            "last_verification",
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
        assert_eq!((&status["last_backup_at"], &status["last_verification"]), (&Value::Null, &Value::Null));
    });
}

fn read_status(service: &TestService) -> Value {
    let operator = service.running.operator_url.trim_start_matches("http://");
    let mut command = service.build_command();
    command.env("GUERDON_OPERATOR__LISTEN", operator).args(["--output", "json", "status"]);
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

#[test]
fn status_and_metrics_show_the_last_backup_verification_and_retention() {
    for_each_database(|service: &mut TestService| {
        let recorded = service.run_json_command(&["backup", "--record"]);
        assert_eq!(read_status(service)["last_backup_at"], recorded["last_backup_at"]);
        let again = service.run_json_command(&["backup", "--record"]);
        assert!(text_field(&again, "last_backup_at") >= text_field(&recorded, "last_backup_at"));
        assert_eq!(service.run_command(&["backup", "--record", "file"]).status, 2);
        let audited = service.run_json_command(&["audit", "--action", "backup.record"]);
        assert_eq!(audited.as_array().unwrap().len(), 2);

        let verified = service.run_json_command(&["verify"]);
        let verification = read_status(service)["last_verification"].clone();
        assert_eq!((&verification["ok"], &verification["violations"]), (&json!(true), &json!(0)));
        assert_eq!(verification["checked"], verified["checked"]);
        assert!(text_field(&verification, "at").ends_with('Z') && verification["duration_ms"].is_u64());

        let mut pruned = service.run_json_command(&["prune"]);
        let prune = read_status(service)["last_prune"].clone();
        assert!(text_field(&prune, "at") >= text_field(&again, "last_backup_at"), "{prune}");
        assert!(pruned.as_object_mut().unwrap().remove("longest_step_micros").unwrap().is_u64());
        assert_eq!(prune["deleted"], pruned);

        service.running.terminate().unwrap();
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        service.restart();
        let metrics = wait_until("the metrics should be read from the database", || {
            let page = service.running.operator_page("/metrics").body;
            page.contains("guerdon_backup_last_success_timestamp_seconds ").then_some(page)
        });
        for part in [
            "guerdon_verify_violations 0",
            "guerdon_verify_last_run_timestamp_seconds 1",
            "guerdon_verify_last_run_duration_seconds ",
            "guerdon_prune_last_run_timestamp_seconds 1",
            "guerdon_prune_longest_step_seconds ",
            "guerdon_prune_deleted{kind=\"events\"} 0",
        ] {
            assert!(metrics.contains(part), "{part} is not in {metrics}");
        }
    });
}

/// The metadata of an identity provider, with a certificate that the test created.
pub fn idp_metadata(service: &TestService) -> String {
    let pem = fs::read_to_string(service.data_dir.path().join("tls/certificate.pem")).unwrap();
    let first = pem.split("-----END").next().unwrap();
    let digits: String = first.lines().filter(|line| !line.starts_with("-----")).collect();
    format!(
        r#"<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example"><IDPSSODescriptor><KeyDescriptor use="signing"><X509Certificate>{digits}</X509Certificate></KeyDescriptor><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/></IDPSSODescriptor></EntityDescriptor>"#
    )
}

#[test]
fn single_sign_on_is_set_up_from_metadata() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let file = service.data_dir.path().join("idp.xml");
        fs::write(&file, idp_metadata(service)).unwrap();
        let shown =
            service.run_json_command(&["saml", "import", &sample_domain(&sample), file.to_str().unwrap()]);
        let sp = format!("https://localhost:8443/saml/{}", sample_domain(&sample));
        let expected = json!({"idp_id": "https://idp.example", "idp_url": "https://idp.example/sso", "sp_id": sp, "active": false});
        assert_eq!(shown, expected);
        assert_eq!(service.run_json_command(&["saml", "show", &sample.company]), expected);
        assert!(service.run_command(&["saml", "show", &sample.company]).stdout.contains(&sp));
        fs::write(&file, "<x/>").unwrap();
        let refused = service.run_command(&["saml", "import", &sample.company, file.to_str().unwrap()]);
        let expected = "does not describe an identity provider";
        assert!(refused.status == 1 && refused.stderr.contains(expected), "{}", refused.stderr);
    });
}

#[test]
fn config_check_tries_the_files_and_servers_in_the_settings() {
    for_each_database(|service| {
        let tried = service.run_command(&["config", "check", "--connect"]);
        assert_eq!(tried.status, 0, "{}", tried.stderr);
        for part in ["data folder: ", "database: ", "mail: "] {
            assert!(tried.stdout.contains(part), "{}", tried.stdout);
        }
        let mut wrong = service.build_command();
        wrong
            .env("GUERDON_MAIL__SMTP_URL", "smtp://127.0.0.1:1?tls=none")
            .env("GUERDON_MAIL__FROM", "a@a.example");
        let output = wrong.args(["config", "check", "--connect"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
        if service.database.is_embedded() {
            let fresh = tempfile::tempdir().unwrap();
            let run = |key: &str, words: &[&str]| {
                let mut command = service.build_command();
                command.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", fresh.path());
                let output = command.env("GUERDON_MASTER_KEY", key.repeat(64)).args(words).output().unwrap();
                (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
            };
            assert_eq!(run("a", &["migrate"]).0, Some(0));
            let output = run("a", &["config", "check", "--connect"]);
            assert!(output.0 == Some(0) && output.1.contains("no master key yet"), "{output:?}");
            assert_eq!(run("b", &["provider", "list"]).0, Some(0));
            let output = run("a", &["config", "check", "--connect"]);
            assert!(
                output.0 == Some(0) && output.1.contains("no master key yet"),
                "a read-only command stores nothing"
            );
            assert_eq!(run("b", &["provider", "create", "--name", "Acme"]).0, Some(0));
            let output = run("a", &["config", "check", "--connect"]);
            assert!(output.0 == Some(1) && output.1.contains("fingerprint"), "{output:?}");
        }
    });
}

#[test]
fn commands_create_no_files_in_another_users_folder() {
    for_each_database(|service| {
        let given_away = tempfile::tempdir().unwrap();
        let is_root = std::os::unix::fs::chown(given_away.path(), Some(65_534), None).is_ok();
        let folder = if is_root { given_away.path() } else { Path::new("/usr") };
        let count_files = || fs::read_dir(folder).unwrap().count();
        let before = count_files();
        for command in ["migrate", "serve"] {
            let mut run = service.build_command();
            run.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", folder);
            let refused = run.arg(command).output().unwrap();
            let stderr = String::from_utf8_lossy(&refused.stderr);
            assert!(
                refused.status.code() == Some(1) && stderr.contains("run this command as that user"),
                "{stderr}"
            );
            assert_eq!(count_files(), before);
        }
    });
}
