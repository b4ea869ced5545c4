//! Runs the examples in the help of each command.

use std::fs;

use guerdon_domain::ports::Timestamp;
use guerdon_webhooks::sign;
use serde_json::{Value, json};

use crate::company_moves::MASTER_KEY;
use crate::events::ALLOW_LOCAL_RECEIVERS;
use crate::long_term_operation::{idp_metadata, text_field};
use crate::support::receiver::WebhookReceiver;
use crate::support::service::{ProviderCredentials, TestService, build_plain_command};
use crate::support::{
    SampleCompany, create_any_database, created_id, for_each_database_with, user_body, wait_for_first_event,
    wait_until,
};

/// The lines under `Examples:` in a command's help.
fn parse_examples(path: &str, help: &str) -> Vec<String> {
    let lines = help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{path} has no example:\n{help}"));
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{path}: {help}");
    let whole = lines.replace(" \\\n    ", " ");
    let lines = whole.lines().filter(|line| line.starts_with("  guerdon "));
    let lines: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
    assert!(lines.len() >= 2, "{path}: {help}");
    lines
}

/// Commands that run until they are stopped. Separate tests start them.
const LONG_RUNNING: [&str; 3] = ["serve", "dev", "listen"];
/// Commands for SQLite only. PostgreSQL has its own backup tools.
const SQLITE_ONLY: [&str; 2] = ["backup", "restore"];

/// Every command of the CLI, with its help.
fn list_commands(path: &str) -> Vec<(String, String)> {
    let words = path.split(' ').filter(|word| !word.is_empty()).chain(["--help"]);
    let help = String::from_utf8(build_plain_command().args(words).output().unwrap().stdout).unwrap();
    let Some(listed) = help.split("Commands:\n").nth(1) else { return vec![(path.to_owned(), help)] };
    let names = listed.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.flat_map(|name| list_commands(format!("{path} {name}").trim())).collect()
}

/// Every command that ends, with its examples, in the order in which they run.
fn list_examples() -> Vec<(String, Vec<String>)> {
    let mut all = list_commands("");
    // Commands that remove something run last, and `backup` runs before `restore`.
    let last = ["company transfer", "provider set", "user erase", "restore"];
    all.sort_by_key(|(command, _)| last.contains(&command.as_str()));
    assert!(all.len() > 50, "{all:?}");
    all.retain(|(command, _)| !LONG_RUNNING.contains(&command.as_str()));
    let with_examples = |(command, help): (String, String)| {
        let examples = parse_examples(&command, &help);
        (command, examples)
    };
    all.into_iter().map(with_examples).collect()
}

#[test]
fn every_example_in_the_help_runs() {
    let examples = list_examples();
    let settings = [&ALLOW_LOCAL_RECEIVERS[..], &[MASTER_KEY]].concat();
    for_each_database_with(&settings, |service| {
        let (sample, receiver) = (create_sample(service), WebhookReceiver::start().unwrap());
        service.run_json_command(&["provider", "set", "Acme", "--callback-url", &receiver.url()]);
        let names = placeholder_values(service, &sample);
        let operator = service.running.operator_url.trim_start_matches("http://").to_owned();
        for (command, lines) in &examples {
            if !service.database.is_embedded() && SQLITE_ONLY.contains(&command.as_str()) {
                continue;
            }
            for line in lines {
                let filled = names.iter().fold(line.clone(), |line, (name, value)| line.replace(name, value));
                let words: Vec<&str> = filled.split(' ').skip(1).collect();
                let mut run = service.build_command();
                run.env("GUERDON_OPERATOR__LISTEN", &operator).args(words);
                let empty = tempfile::tempdir().unwrap();
                if command == "restore" {
                    run.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", empty.path());
                }
                let output = run.output().unwrap();
                let output_text =
                    [output.stdout, output.stderr].map(|output| String::from_utf8(output).unwrap()).concat();
                assert!(output.status.success(), "{line}: {output_text}");
            }
        }
    });
}

/// A company with the domain and users that the examples name.
fn create_sample(service: &TestService) -> SampleCompany {
    let provider = service.create_provider("Acme", true);
    let sample = SampleCompany::create_in_domain(service, provider.clone(), "acme.example", 2);
    service.create_provider("Other", true);
    sample.fund_peer_wallets(service, 1_000);
    sample.deposit_points(service, 1_000_000);
    let user = json!({"email": "ann@acme.example"});
    service.put(&provider, &format!("/v1/users/{}", sample.users[0]), &user);
    service.delete(&provider, &format!("/v1/users/{}", sample.users[1]));
    sample
}

/// The ids and file names in the examples, and their replacements in the test.
fn placeholder_values(service: &mut TestService, sample: &SampleCompany) -> Vec<(&'static str, String)> {
    let provider = &sample.provider;
    let third = created_id(service.post(provider, "/v1/users", &user_body(&sample.company, "third")));
    let sent = sample.send_recognition(service, &sample.users[0], &[&third], 100).json();
    service.run_json_command(&[
        "wallet",
        "override",
        &sample.users[0],
        "--wallet",
        "user_wallet",
        "--points",
        "50",
    ]);
    let every = ["--every", "week", "--start", "2100-01-01"];
    let plan = ["distribution", "schedule", "acme.example", "--wallet", "peer_wallet", "--points", "1"];
    let create_id = |words: &[&str]| text_field(&service.run_json_command(words), "id").to_owned();
    let [redeemed, redeemed_too] =
        ["1", "2"].map(|points| create_id(&["redemption", "create", &sample.users[0], "--points", points]));
    let [occasion, occasion_too] = ["Joy", "Fun"].map(|name| {
        create_id(&["occasion", "create-global", "--name", name, "--title", name, "--default-message", name])
    });
    let [schedule, schedule_too] = [(); 2].map(|()| create_id(&[&plan[..], &every].concat()));
    let event = wait_for_first_event(service, provider);
    let folder = service.data_dir.path().to_owned();
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("people.csv"), "email,first_name,last_name\nzoe@acme.example,Zoe,Ray\n").unwrap();
    fs::write(path("idp.xml"), idp_metadata(service)).unwrap();
    write_delivery(&path("headers"), &path("body"));
    let [mail, mail_too] = create_given_up_mails(service, sample);
    let id = |object: &Value| text_field(object, "id").to_owned();
    write_archives(&path("archive"));
    vec![
        ("DELETED_USER_ID", sample.users[1].clone()),
        ("USER_ID", sample.users[0].clone()),
        ("OTHER_REDEMPTION_ID", redeemed_too),
        ("OTHER_OCCASION_ID", occasion_too),
        ("OTHER_SCHEDULE_ID", schedule_too),
        ("REDEMPTION_ID", redeemed),
        ("RECOGNITION_ID", id(&sent["recognitions"][0])),
        ("OCCASION_ID", occasion),
        ("SCHEDULE_ID", schedule),
        ("EVENT_ID", id(&event)),
        ("OTHER_MAIL_ID", mail_too),
        ("MAIL_ID", mail),
        ("PEOPLE", path("people.csv")),
        ("METADATA", path("idp.xml")),
        ("HEADERS", path("headers")),
        ("BODY", path("body")),
        ("NEW_COPY", path("copy.db")),
        ("OTHER_NEW_FILE", path("new-2.jsonl")),
        ("NEW_FILE", path("new.jsonl")),
        ("OTHER_ARCHIVE", path("archive-2")),
        ("ARCHIVE", path("archive")),
        ("RELEASE_CODE", hand_over_company(service, provider, &path("moved.jsonl"))),
        ("COPY", path("copy.db")),
        ("HEAD", text_field(&service.run_json_command(&["seal"]), "head").to_owned()),
    ]
}

/// Creates the company that the examples hand over, and hands it over. Returns the release code.
fn hand_over_company(service: &TestService, provider: &ProviderCredentials, file: &str) -> String {
    SampleCompany::create_in_domain(service, provider.clone(), "moved.example", 1);
    service.run_json_command(&["company", "export", "moved.example", "--hand-over", "--to", file]);
    let text = fs::read_to_string(file).unwrap();
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    text_field(&header, "release_code").to_owned()
}

/// Writes archives of two companies that another cell has handed over.
fn write_archives(first: &str) {
    let source = TestService::start(create_any_database(), &[MASTER_KEY]);
    let provider = source.create_provider("Elsewhere", true);
    for (domain, file) in [("one.example", first.to_owned()), ("two.example", format!("{first}-2"))] {
        SampleCompany::create_in_domain(&source, provider.clone(), domain, 1);
        source.run_json_command(&["company", "export", domain, "--hand-over", "--to", &file]);
    }
}

/// Writes the files of a delivery to the example's URL, signed with the example's secret and the current time.
fn write_delivery(headers: &str, body: &str) {
    fs::write(body, "{}").unwrap();
    let now = Timestamp::new(fs::metadata(body).unwrap().modified().unwrap().into()).to_string();
    let signature = sign("gw_1", "https://acme.example/hook", &now, "0123456789abcdef", b"{}");
    let lines = format!(
        "X-Service-Timestamp: {now}\nX-Service-Nonce: 0123456789abcdef\nX-Service-Signature: {signature}\n"
    );
    fs::write(headers, lines).unwrap();
}

/// Creates two emails about a low reserve. Both are in the state `given-up`, as if no mail server had been available
/// for days.
fn create_given_up_mails(service: &mut TestService, sample: &SampleCompany) -> [String; 2] {
    let alert = json!({"reserve_alert": 10_000_000, "reserve_bcc": "bcc@acme.example"});
    let path = format!("/v1/companies/{}", sample.company);
    assert_eq!(service.put(&sample.provider, &path, &alert).status, 200);
    wait_until("emails should be sent", || {
        (service.database.count_rows("notifications WHERE state = 2") > 1).then_some(())
    });
    let given_up = "UPDATE notifications SET state = 3 WHERE state = 2";
    service.running.kill().unwrap();
    service.database.execute_sql(given_up, given_up);
    service.restart();
    let listed = service.run_json_command(&["mail", "list", "--state", "given-up"]);
    [0, 1].map(|index| text_field(&listed[index], "id").to_owned())
}
