//! A company moves to another cell: `guerdon company export`, `import` and `reopen`.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::sleep; // tidy: kills another process at some point
use std::time::Duration;

use guerdon_persistence::testing::{
    TestDatabase, covers_postgres, covers_sqlite, create_postgres, create_sqlite,
};
use serde_json::{Value, json};

use crate::events::ALLOW_LOCAL_RECEIVERS;
use crate::support::provider_fixture::ProviderFixture;
use crate::support::receiver::WebhookReceiver;
use crate::support::service::{ApiResponse, ProviderCredentials, TestService};
use crate::support::{SampleCompany, create_any_database, occasion_body, user_body, wait_until};

/// Both cells have the same master key.
pub const MASTER_KEY: (&str, &str) =
    ("GUERDON_MASTER_KEY", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");

/// Two cells. The company in the first cell has an object of every kind.
struct TwoCells {
    source: TestService,
    target: TestService,
    fixture: ProviderFixture,
    /// The recognition that was sent with the key `k-1`, and its response.
    sent: (Value, String),
}

/// Runs a test with the source and the target on each pair of databases.
fn for_each_pair(test: impl Fn(TwoCells)) {
    let kinds: [(bool, fn() -> TestDatabase); 2] =
        [(covers_sqlite(), create_sqlite), (covers_postgres(), create_postgres)];
    let covered = kinds.into_iter().filter(|(is_covered, _)| *is_covered).map(|(_, create)| create);
    let covered: Vec<fn() -> TestDatabase> = covered.collect();
    for create_source in &covered {
        for create_target in &covered {
            test(TwoCells::create(create_source(), create_target()));
        }
    }
}

impl TwoCells {
    fn create(source: TestDatabase, target: TestDatabase) -> Self {
        let settings = [&ALLOW_LOCAL_RECEIVERS[..], &[MASTER_KEY]].concat();
        let source = TestService::start(source, &settings);
        let target = TestService::start(target, &settings);
        target.create_provider("Resident", true);
        let fixture = ProviderFixture::create(&source, "acme");
        let sample = &fixture.sample;
        let users = &sample.users;
        let body = sample.recognition_body("user", &users[0], &[&users[1], &users[2]], 4);
        let sent = source.post_with_key(&sample.provider, "/v1/recognitions", &body, "k-1");
        assert_eq!(sent.status, 201, "{}", sent.body);
        let run = |words: &[&str]| source.run_json_command(words);
        run(&["recognition", "update", &fixture.recognition, "--message", "Changed"]);
        run(&["wallet", "override", &users[0], "--wallet", "user_wallet", "--points", "50"]);
        let redeemed = run(&["redemption", "create", &users[0], "--points", "7"]);
        run(&["redemption", "refund", redeemed["id"].as_str().unwrap()]);
        run(&["redemption", "create", &users[0], "--points", "5"]);
        let every = ["--wallet", "peer_wallet", "--points", "1", "--every", "week", "--start", "2100-01-01"];
        run(&[&["distribution", "schedule", &sample.company][..], &every].concat());
        assert_eq!(
            source
                .put(
                    &sample.provider,
                    &format!("/v1/companies/{}", sample.company),
                    &json!({"points_per_dollar": 33})
                )
                .status,
            200
        );
        assert_eq!(source.delete(&sample.provider, &format!("/v1/users/{}", fixture.spare_user)).status, 204);
        // From now on, events stay pending, because nothing listens at this address.
        run(&["provider", "set", &sample.provider.id, "--callback-url", "http://127.0.0.1:1/"]);
        assert_eq!(sample.send_recognition(&source, &users[0], &[&users[1]], 1).status, 201);
        let sent = (body, sent.body);
        Self { source, target, fixture, sent }
    }

    fn company(&self) -> &str {
        &self.fixture.sample.company
    }

    fn provider(&self) -> &ProviderCredentials {
        self.fixture.provider()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.source.data_dir.path().join(name)
    }

    /// Hands the company over. Returns the path of the archive.
    fn hand_over(&self, name: &str) -> PathBuf {
        let file = self.file(name);
        let path = file.display().to_string();
        self.source.run_json_command(&["company", "export", self.company(), "--hand-over", "--to", &path]);
        file
    }

    /// Imports a file. Fails unless the import is refused.
    fn assert_import_refused(&self, file: &std::path::Path, expected: &str) {
        let output = self.target.run_command(&["company", "import", &file.display().to_string()]);
        assert_eq!(output.status, 1, "{}", output.stdout);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
        let found = self.target.get(self.provider(), &format!("/v1/companies/{}", self.company()));
        assert_ne!(found.status, 200, "nothing was imported");
    }

    fn import(&self, file: &std::path::Path) -> Value {
        self.target.run_json_command(&["company", "import", &file.display().to_string()])
    }

    /// Runs the command `verify` in both cells. It also checks the schemas and the secrets.
    fn verify(&self) {
        for service in [&self.source, &self.target] {
            let output = service.run_command(&["verify"]);
            assert_eq!(output.status, 0, "{}{}", output.stdout, output.stderr);
        }
    }

    /// Reads everything about the company that the provider can read.
    fn read_all(&self, service: &TestService) -> Vec<(String, String)> {
        let SampleCompany { company, occasion, users, .. } = &self.fixture.sample;
        let mut paths: Vec<String> = ["/users", "/users/balances", "/occasions", "/saml"]
            .iter()
            .map(|rest| format!("/v1/companies/{company}{rest}"))
            .collect();
        paths.push(format!("/v1/occasions/{occasion}"));
        for user in users.iter().chain([&self.fixture.owner, &self.fixture.spare_user]) {
            paths.push(format!("/v1/users/{user}"));
            for rest in ["balances", "recognitions_received", "recognitions_sent"] {
                paths.push(format!("/v1/users/{user}/{rest}"));
            }
            for kind in ["user_wallet", "peer_wallet"] {
                paths.push(format!("/v1/users/{user}/transactions?type={kind}"));
            }
        }
        let read = |path: String| {
            let response = service.get(self.provider(), &path);
            (path, format!("{} {}", response.status, response.body))
        };
        paths.into_iter().map(read).collect()
    }

    /// The provider's events, without the times of their next attempts.
    fn read_events(&self, service: &TestService, count: usize) -> Vec<Value> {
        wait_until("the events should be in the feed", || {
            let feed = service.get(self.provider(), "/v1/events").json();
            let mut events = feed["events"].as_array().unwrap().clone();
            for event in &mut events {
                event["next_attempt_at"] = Value::Null;
                event["attempts"] = Value::Null;
            }
            (events.len() >= count).then_some(events)
        })
    }
}

fn statement(service: &TestService, company: &str) -> Value {
    service.run_json_command(&["statement", company])
}

#[test]
fn a_moved_company_is_read_as_before_and_a_retry_pays_nothing_twice() {
    for_each_pair(|cells| {
        let creations = [
            ("/v1/occasions", occasion_body(cells.company())),
            ("/v1/users", user_body(cells.company(), "moved")),
        ];
        let create = |service: &TestService| {
            let post = |(path, body): &(&str, Value)| {
                let created = service.post_with_key(cells.provider(), path, body, path);
                assert_eq!(created.status, 201, "{}", created.body);
                created.body
            };
            creations.iter().map(post).collect::<Vec<String>>()
        };
        let created = create(&cells.source);
        let (before, report) = (cells.read_all(&cells.source), statement(&cells.source, cells.company()));
        let events = cells.read_events(&cells.source, 5);
        let archive = cells.hand_over("moved.jsonl");
        assert_closed(&cells);
        assert_eq!(cells.import(&archive)["already_imported"], false);
        assert_eq!(cells.import(&archive)["already_imported"], true);
        assert_eq!(cells.read_all(&cells.target), before);
        assert_eq!(statement(&cells.target, cells.company()), report);
        assert_eq!(cells.read_events(&cells.target, events.len()), events);
        let (body, response) = &cells.sent;
        let retried = cells.target.post_with_key(cells.provider(), "/v1/recognitions", body, "k-1");
        assert_eq!((retried.status, &retried.body), (201, response));
        assert_eq!(create(&cells.target), created, "the retries get the stored responses");
        assert_eq!(cells.read_all(&cells.target), before, "the retries paid and created nothing");
        cells.verify();
        let sample = &cells.fixture.sample;
        let sent = sample.send_recognition(&cells.target, &sample.users[0], &[&sample.users[1]], 1);
        assert_eq!(sent.status, 201, "{}", sent.body);
        cells.verify();
        cells.assert_pending_events_are_delivered_by_the_target();
        let schedules = cells.target.run_json_command(&["distribution", "list", cells.company()]);
        assert_eq!(schedules.as_array().unwrap().len(), 1, "{schedules}");
        cells.assert_returning_is_refused();
        cells.assert_copies_of_personal_data_can_be_erased();
    });
}

impl TwoCells {
    /// The event that was pending at the hand-over is delivered by the target. The source still has it, without a next
    /// attempt.
    fn assert_pending_events_are_delivered_by_the_target(&self) {
        let pending = |service: &TestService| {
            let feed = service.get(self.provider(), "/v1/events?state=pending").json();
            feed["events"].as_array().unwrap().len()
        };
        assert_eq!(pending(&self.source), 0, "none is due in the source");
        let receiver = WebhookReceiver::start().unwrap();
        let id = self.provider().id.as_str();
        self.target.run_json_command(&["provider", "set", id, "--callback-url", &receiver.url()]);
        self.target.run_json_command(&["event", "replay", "--provider", id, "--state", "pending"]);
        let handed_over = self.read_events(&self.source, 1).pop().unwrap();
        assert_eq!(handed_over["state"], "pending");
        wait_until("the target should deliver the event", || {
            let arrived = receiver.next_request();
            (arrived.event_id() == handed_over["id"]).then_some(())
        });
    }

    /// The company cannot return to the cell that it has left.
    fn assert_returning_is_refused(&self) {
        let path = self.file("back.jsonl").display().to_string();
        self.target.run_json_command(&["company", "export", self.company(), "--hand-over", "--to", &path]);
        let output = self.source.run_command(&["company", "import", &path]);
        assert!(output.status == 1 && output.stderr.contains("cannot return"), "{}", output.stderr);
    }
}

impl TwoCells {
    /// Asserts that the source, which keeps a copy of the personal data, can erase the data of every user, even of a
    /// user who is not deleted in the source.
    fn assert_copies_of_personal_data_can_be_erased(&self) {
        for user in [&self.fixture.spare_user, &self.fixture.sample.users[1]] {
            let output = self.source.run_command(&["user", "erase", user]);
            assert!(
                output.status == 0 && output.stdout.contains("Erase the user there as well"),
                "{output:?}"
            );
            let shown = self.source.get(self.provider(), &format!("/v1/users/{user}")).json();
            assert_eq!(shown["first_name"], "erased");
        }
        let bodies = self.source.get(self.provider(), "/v1/events").body;
        assert!(bodies.contains("erased"), "{bodies}");
        self.verify();
    }
}

/// Asserts that the source refuses every write to the company with 503, and still allows reads.
fn assert_closed(cells: &TwoCells) {
    let SampleCompany { company, users, occasion, .. } = &cells.fixture.sample;
    let (source, provider) = (&cells.source, cells.provider());
    let is_refused = |response: ApiResponse| {
        let message = response.expect_error(503);
        assert!(message.contains("being moved to another cell"), "{message}");
        assert!(response.header("retry-after").is_some());
    };
    is_refused(cells.fixture.sample.send_recognition(source, &users[0], &[&users[1]], 1));
    is_refused(source.put(provider, &format!("/v1/companies/{company}"), &json!({"points_per_dollar": 34})));
    is_refused(source.put(provider, &format!("/v1/companies/{company}/saml"), &json!({"active": true})));
    is_refused(source.put(provider, &format!("/v1/users/{}", users[0]), &json!({"title": "New"})));
    is_refused(source.put(provider, &format!("/v1/occasions/{occasion}"), &json!({"title": "New"})));
    is_refused(source.delete(provider, &format!("/v1/users/{}", users[0])));
    let user =
        json!({"company_id": company, "email": "new@acme.example.com", "first_name": "N", "last_name": "U"});
    is_refused(source.post(provider, "/v1/users", &user));
    let stranger = source.create_provider("Stranger", true);
    for (path, body) in [("/v1/users", &user), ("/v1/occasions", &occasion_body(company))] {
        source.post(&stranger, path, body).expect_error(403);
    }
    let (body, response) = &cells.sent;
    let retried = source.post_with_key(provider, "/v1/recognitions", body, "k-1");
    assert_eq!((retried.status, &retried.body), (201, response), "a stored response is only read");
    for words in [
        &["reserve", "deposit", company.as_str(), "--points", "1"][..],
        &["company", "options", company, "--allow-zero-points", "true"],
        &["distribution", "run", company, "--wallet", "peer_wallet", "--points", "1"],
        &["event", "replay", &cells.fixture.event],
    ] {
        let output = source.run_command(words);
        assert_eq!(output.status, 1, "{words:?}");
        assert!(output.stderr.contains("being moved to another cell"), "{words:?}: {}", output.stderr);
    }
    let shown = source.run_command(&["company", "show", company]).stdout;
    assert!(shown.contains("handed over to another cell at"), "{shown}");
    let listed = source.run_command(&["company", "list"]).stdout;
    assert!(listed.contains("handed over"), "{listed}");
    assert_eq!(source.get(provider, &format!("/v1/companies/{company}")).status, 200);
}

#[test]
fn each_step_of_a_move_can_be_repeated_and_a_refused_archive_never_opens() {
    for_each_pair(|cells| {
        let first = cells.hand_over("first.jsonl");
        let second = cells.hand_over("second.jsonl");
        let token = |file: &PathBuf| {
            let text = fs::read_to_string(file).unwrap();
            serde_json::from_str::<Value>(text.lines().next().unwrap()).unwrap()["token"].clone()
        };
        assert_eq!(token(&first), token(&second));
        let reopen =
            |code: &str| cells.source.run_command(&["company", "reopen", cells.company(), "--code", code]);
        let wrong = reopen("rel_0");
        assert!(wrong.status == 1 && wrong.stderr.contains("--refuse"), "{}", wrong.stderr);
        let refuse = || {
            let path = first.display().to_string();
            cells.target.run_json_command(&["company", "import", &path, "--refuse"])
        };
        let code = refuse()["release_code"].as_str().unwrap().to_owned();
        assert_eq!(refuse()["release_code"], code.as_str());
        cells.assert_import_refused(&second, "guerdon company reopen");
        let due = || {
            let feed = cells.source.get(cells.provider(), "/v1/events?state=pending").json();
            feed["events"].as_array().unwrap().len()
        };
        assert_eq!(due(), 0);
        assert_eq!(reopen(&code).status, 0);
        assert_eq!(reopen(&code).status, 0);
        assert_eq!(due(), 1);
        let sample = &cells.fixture.sample;
        assert_eq!(
            sample.send_recognition(&cells.source, &sample.users[0], &[&sample.users[1]], 1).status,
            201
        );
        cells.verify();
        let third = cells.hand_over("third.jsonl");
        assert_ne!(token(&first), token(&third));
        cells.import(&third);
        let path = third.display().to_string();
        let late = cells.target.run_command(&["company", "import", &path, "--refuse"]);
        assert!(late.status == 1 && late.stderr.contains("already imported"), "{}", late.stderr);
        cells.verify();
    });
}

#[test]
fn a_damaged_archive_is_refused_and_an_export_without_hand_over_leaves_the_company_open() {
    let cells = TwoCells::create(create_any_database(), create_any_database());
    let path = cells.file("copy.jsonl").display().to_string();
    cells.source.run_json_command(&["company", "export", cells.company(), "--to", &path]);
    cells.assert_import_refused(path.as_ref(), "has no hand-over token");
    let again = cells.source.run_command(&["company", "export", cells.company(), "--to", &path]);
    assert!(again.status == 1 && again.stderr.contains("already exists"), "{}", again.stderr);
    cells.source.run_json_command(&["company", "export", cells.company(), "--to", &path, "--force"]);
    let sample = &cells.fixture.sample;
    assert_eq!(sample.send_recognition(&cells.source, &sample.users[0], &[&sample.users[1]], 1).status, 201);
    let archive = cells.hand_over("moved.jsonl");
    let bytes = fs::read(&archive).unwrap();
    let damaged = cells.file("damaged.jsonl");
    for length in [0, 100, bytes.len() / 3, bytes.len() / 2, bytes.len() - 2] {
        fs::write(&damaged, &bytes[..length]).unwrap();
        cells.assert_import_refused(&damaged, "");
    }
    for position in (200..bytes.len()).step_by(bytes.len() / 12) {
        let mut changed = bytes.clone();
        changed[position] ^= 1;
        fs::write(&damaged, &changed).unwrap();
        cells.assert_import_refused(&damaged, "");
    }
    cells.import(&archive);
    cells.verify();
}

#[test]
fn an_export_that_fails_after_closing_the_company_says_how_to_continue() {
    let cells = TwoCells::create(create_any_database(), create_any_database());
    let directory = cells.source.data_dir.path().display().to_string();
    let path = cells.file("moved.jsonl").display().to_string();
    let export = |to: &str| {
        let words = ["company", "export", cells.company(), "--hand-over", "--force", "--to", to];
        let output = cells.source.run_command(&words);
        (output.status, output.stderr)
    };
    let (status, refused) = export(&directory);
    assert!(status == 1 && refused.contains("is a directory"), "{refused}");
    let sample = &cells.fixture.sample;
    let send = || sample.send_recognition(&cells.source, &sample.users[0], &[&sample.users[1]], 1).status;
    assert_eq!(send(), 201, "the company is still open");
    let refuse_seals =
        "CREATE TRIGGER no_seals BEFORE INSERT ON seals BEGIN SELECT RAISE(ABORT, 'no seals'); END";
    let database = &cells.source.database;
    database.execute_sql(
        refuse_seals,
        "ALTER TABLE seals ADD CONSTRAINT no_seals CHECK (sequence < 0) NOT VALID",
    );
    let (status, first) = export(&path);
    assert!(
        status == 1 && first.contains("the company is closed in this cell: repeat the command"),
        "{first}"
    );
    assert_eq!(send(), 503);
    let (status, second) = export(&path);
    assert!(status == 1 && second.contains("repeat the command"), "{second}");
    let reopen = |error: &str| {
        let code = error.split_once("--code ").and_then(|(_, code)| code.split('`').next()).unwrap();
        cells.source.run_command(&["company", "reopen", cells.company(), "--code", code])
    };
    let replaced = reopen(&first);
    assert!(replaced.status == 1 && replaced.stderr.contains("--refuse"), "{}", replaced.stderr);
    assert_eq!(reopen(&second).status, 0);
    assert_eq!(send(), 201);
    database.execute_sql("DROP TRIGGER no_seals", "ALTER TABLE seals DROP CONSTRAINT no_seals");
    let archive = cells.hand_over("again.jsonl");
    database.execute_sql(
        "CREATE TRIGGER no_archive BEFORE UPDATE ON company_moves BEGIN SELECT RAISE(ABORT, 'no'); END",
        "ALTER TABLE company_moves ADD CONSTRAINT no_archive CHECK (archived_at IS NULL) NOT VALID",
    );
    let (status, third) = export(&path);
    assert!(status == 1 && third.contains("--refuse") && !third.contains("--code"), "{third}");
    database.execute_sql("DROP TRIGGER no_archive", "ALTER TABLE company_moves DROP CONSTRAINT no_archive");
    cells.import(&archive);
    cells.verify();
}

#[test]
fn another_master_key_is_refused_with_advice() {
    let cells = TwoCells::create(create_any_database(), create_any_database());
    let archive = cells.hand_over("moved.jsonl");
    let other_key =
        ("GUERDON_MASTER_KEY", "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    let other = TestService::start(create_any_database(), &[other_key]);
    let output = other.run_command(&["company", "import", &archive.display().to_string()]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("the same master key"), "{}", output.stderr);
    cells.import(&archive);
    cells.verify();
}

#[test]
fn a_move_that_is_killed_at_any_point_is_completed_by_repeating_it() {
    for_each_pair(|mut cells| {
        let before = cells.read_all(&cells.source);
        let path = cells.file("moved.jsonl").display().to_string();
        let export = ["company", "export", cells.company(), "--hand-over", "--force", "--to", &path];
        let export: Vec<String> = export.map(str::to_owned).to_vec();
        let import = ["company", "import", &path].map(str::to_owned).to_vec();
        for milliseconds in [5, 20, 40, 80, 160] {
            kill_after(&mut cells.source, &export, milliseconds);
        }
        assert_eq!(
            cells.source.run_command(&export.iter().map(String::as_str).collect::<Vec<_>>()).status,
            0
        );
        for milliseconds in [5, 20, 40, 80, 160] {
            kill_after(&mut cells.target, &import, milliseconds);
            let source = cells.source.get(cells.provider(), &format!("/v1/companies/{}", cells.company()));
            assert_eq!(source.status, 200);
        }
        cells.import(path.as_ref());
        assert_eq!(cells.read_all(&cells.target), before);
        cells.verify();
    });
}

/// Starts a command and kills it after some time. A service on the embedded database, which runs the command, is killed
/// too.
fn kill_after(service: &mut TestService, words: &[String], milliseconds: u64) {
    let mut command = service.build_command();
    let mut child = command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    sleep(Duration::from_millis(milliseconds)); // tidy: kills another process at some point
    child.kill().unwrap();
    child.wait().unwrap();
    if service.database.is_embedded() {
        service.running.kill().unwrap();
        service.restart();
    }
}
