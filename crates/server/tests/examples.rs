//! The examples in the help of each command.

use std::fs;

use guerdon_domain::ports::Timestamp;
use guerdon_webhooks::sign;
use serde_json::{Value, json};

use crate::events::LOCAL;
use crate::support::receiver::Receiver;
use crate::support::service::Service;
use crate::support::{Sample, created, first_event, on_each_with, until, user_body};
use crate::years::{metadata, text};

/// The lines under `Examples:` in a command's help.
fn examples(service: &Service, path: &str) -> Vec<String> {
    let words: Vec<&str> = path.split(' ').chain(["--help"]).collect();
    let help = service.guerdon(&words).out;
    let lines = help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{path} has no example:\n{help}"));
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{path}: {help}");
    let whole = lines.replace(" \\\n    ", " ");
    let lines = whole.lines().filter(|line| line.starts_with("  guerdon "));
    let lines: Vec<String> = lines.map(|line| line.trim().to_owned()).collect();
    assert!(lines.len() >= 2, "{path}: {help}");
    lines
}

/// Commands that run until they are stopped. Separate tests start them.
const GOING_ON: [&str; 3] = ["serve", "dev", "listen"];
/// Commands of SQLite only. PostgreSQL has its own backup tools.
const OF_SQLITE: [&str; 2] = ["backup", "restore"];

/// Every command of the CLI.
fn commands(service: &Service, path: &str) -> Vec<String> {
    let words: Vec<&str> = path.split(' ').filter(|word| !word.is_empty()).chain(["--help"]).collect();
    let help = service.guerdon(&words).out;
    let Some(listed) = help.split("Commands:\n").nth(1) else { return vec![path.to_owned()] };
    let names = listed.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.flat_map(|name| commands(service, format!("{path} {name}").trim())).collect()
}

#[test]
fn every_example_in_the_help_runs() {
    on_each_with(&LOCAL, |service| {
        let (sample, receiver) = (sample(service), Receiver::start());
        service.json(&["provider", "set", "Acme", "--callback-url", &receiver.url()]);
        let names = names(service, &sample);
        let operator = service.running.operator.trim_start_matches("http://").to_owned();
        let mut all = commands(service, "");
        // Commands that remove something run last, and `backup` runs before `restore`.
        let last = ["company transfer", "provider set", "user erase", "restore"];
        all.sort_by_key(|command| last.contains(&command.as_str()));
        assert!(all.len() > 50, "{all:?}");
        all.retain(|command| !GOING_ON.contains(&command.as_str()));
        all.retain(|command| service.database.is_embedded() || !OF_SQLITE.contains(&command.as_str()));
        for command in all {
            for line in examples(service, &command) {
                let filled = names.iter().fold(line.clone(), |line, (name, value)| line.replace(name, value));
                let words: Vec<&str> = filled.split(' ').skip(1).collect();
                let mut run = service.command();
                run.env("GUERDON_OPERATOR__LISTEN", &operator).args(words);
                let empty = tempfile::tempdir().unwrap();
                if command == "restore" {
                    run.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", empty.path());
                }
                let done = run.output().unwrap();
                let told =
                    [done.stdout, done.stderr].map(|output| String::from_utf8(output).unwrap()).concat();
                assert!(done.status.success(), "{line}: {told}");
            }
        }
    });
}

/// A company with the domain and users that the examples name.
fn sample(service: &Service) -> Sample {
    let provider = service.provider("Acme", true);
    let sample = Sample::in_domain(service, provider.clone(), "acme.example", 2);
    service.provider("Other", true);
    sample.fund(service, 1_000);
    sample.deposit(service, 1_000_000);
    let user = json!({"email": "ann@acme.example"});
    service.put(&provider, &format!("/v1/users/{}", sample.users[0]), &user);
    service.delete(&provider, &format!("/v1/users/{}", sample.users[1]));
    sample
}

/// The ids and file names in the examples, with their replacements in the test.
fn names(service: &mut Service, sample: &Sample) -> Vec<(&'static str, String)> {
    let provider = &sample.provider;
    let third = created(service.post(provider, "/v1/users", &user_body(&sample.company, "third")));
    let sent = sample.send(service, &sample.users[0], &[&third], 100).json();
    service.json(&["wallet", "override", &sample.users[0], "--wallet", "user_wallet", "--points", "50"]);
    let every = ["--every", "week", "--start", "2100-01-01"];
    let plan = ["distribution", "schedule", "acme.example", "--wallet", "peer_wallet", "--points", "1"];
    let made = |words: &[&str]| text(&service.json(words), "id").to_owned();
    let [redeemed, redeemed_too] =
        ["1", "2"].map(|points| made(&["redemption", "create", &sample.users[0], "--points", points]));
    let [occasion, occasion_too] = ["Joy", "Fun"].map(|name| {
        made(&["occasion", "create-global", "--name", name, "--title", name, "--default-message", name])
    });
    let [schedule, schedule_too] = [(); 2].map(|()| made(&[&plan[..], &every].concat()));
    let event = first_event(service, provider);
    let folder = service.data.path().to_owned();
    let path = |name: &str| folder.join(name).display().to_string();
    fs::write(path("people.csv"), "email,first_name,last_name\nzoe@acme.example,Zoe,Ray\n").unwrap();
    fs::write(path("idp.xml"), metadata(service)).unwrap();
    delivery(&path("headers"), &path("body"));
    let [mail, mail_too] = mails_given_up(service, sample);
    let id = |object: &Value| text(object, "id").to_owned();
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
        ("COPY", path("copy.db")),
        ("HEAD", text(&service.json(&["seal"]), "head").to_owned()),
    ]
}

/// Writes a delivery to the URL of the example, signed now with the secret of the example.
fn delivery(headers: &str, body: &str) {
    fs::write(body, "{}").unwrap();
    let now = Timestamp::new(fs::metadata(body).unwrap().modified().unwrap().into()).to_string();
    let signature = sign("gw_1", "https://acme.example/hook", &now, "0123456789abcdef", b"{}");
    let lines = format!(
        "X-Service-Timestamp: {now}\nX-Service-Nonce: 0123456789abcdef\nX-Service-Signature: {signature}\n"
    );
    fs::write(headers, lines).unwrap();
}

/// Two mails about the reserve that were given up, as after days without a mail server.
fn mails_given_up(service: &mut Service, sample: &Sample) -> [String; 2] {
    let alert = json!({"reserve_alert": 10_000_000, "reserve_bcc": "bcc@acme.example"});
    let path = format!("/v1/companies/{}", sample.company);
    assert_eq!(service.put(&sample.provider, &path, &alert).status, 200);
    until("mails should be sent", || (service.database.count("mails WHERE state = 2") > 1).then_some(()));
    let given_up = "UPDATE mails SET state = 3 WHERE state = 2";
    service.running.kill();
    service.database.tamper(given_up, given_up);
    service.restart();
    let listed = service.json(&["mail", "list", "--state", "given-up"]);
    [0, 1].map(|index| text(&listed[index], "id").to_owned())
}
