//! Runs the commands on a new embedded database.

mod distributions;
mod imports;
mod texts;
mod verify;
mod wallets;

use std::sync::Arc;

use clap::Parser;
use guerdon_domain::companies::{CreateCompany, create};
use guerdon_domain::ports::{Notifiers, Setting, StoreExt};
use guerdon_domain::values::{self, DomainName, EmailAddress, ProviderId, WebUrl};
use guerdon_http_api::SecretVerifier;
use guerdon_persistence::{Access, DatabaseUrl, migrate, open_with_notifiers};
use serde_json::Value;
use tempfile::TempDir;

use super::{Command, CommandEnvironment, CommandError, CommandOutput, RunnableCommand as _};
use crate::keys::Keys;
use crate::settings::{MasterKey, Settings};

#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

struct Setup {
    environment: CommandEnvironment,
    _folder: TempDir,
}

impl Setup {
    fn new() -> Self {
        let setup = Self::without_fingerprint();
        let CommandEnvironment { store, keys, .. } = &setup.environment;
        let fingerprint = keys.fingerprint();
        store.transaction(|tx| tx.set_setting(Setting::MasterKeyFingerprint, fingerprint)).unwrap();
        setup
    }

    /// A database without the fingerprint of its master key.
    fn without_fingerprint() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::Sqlite(folder.path().join("guerdon.db"));
        migrate(&url).unwrap();
        let opened = open_with_notifiers(&url, Access::Command, Notifiers::default()).unwrap();
        let keys = Arc::new(Keys::derive(&MasterKey::parse(&"01".repeat(32)).unwrap()).unwrap());
        let settings = Settings::from_sources(None, std::iter::empty()).unwrap();
        Self {
            environment: CommandEnvironment::new(opened.requests, opened.commands, keys, &settings),
            _folder: folder,
        }
    }

    /// Runs a command as if it arrived over the socket: parses it, serializes it as JSON and deserializes it. Returns
    /// the JSON output.
    fn run_for_json(&self, arguments: &[&str]) -> Result<String, CommandError> {
        self.execute_command(arguments).map(|output| output.json)
    }

    /// Returns the text output.
    fn run_for_text(&self, arguments: &[&str]) -> String {
        self.execute_command(arguments).unwrap().text
    }

    fn execute_command(&self, arguments: &[&str]) -> Result<CommandOutput, CommandError> {
        let line =
            CommandLine::try_parse_from(std::iter::once("guerdon").chain(arguments.iter().copied())).unwrap();
        let sent = serde_json::to_string(&line.command).unwrap();
        let received: Command = serde_json::from_str(&sent).unwrap();
        received.execute_in(&self.environment)
    }

    fn run_for_value(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run_for_json(arguments).unwrap()).unwrap()
    }

    fn assert_refused(&self, arguments: &[&str], part: &str) {
        let why = self.run_for_json(arguments).expect_err("must be refused").to_string();
        assert!(why.contains(part), "`{why}` does not say `{part}`");
    }
}

/// Returns the field names of an object in their order.
fn field_names(json: &str) -> Vec<&str> {
    let before_colons = json.rsplit_once("\":").map_or("", |(before, _last_value)| before);
    before_colons.split("\":").filter_map(|part| part.rsplit('"').next()).collect()
}

const MISSING_ID: &str = "00000000-0000-0000-0000-000000000001";

#[test]
fn a_provider_is_created_with_secrets_that_work() {
    let setup = Setup::new();
    let json = setup.run_for_json(&["provider", "create", "--name", "Acme"]).unwrap();
    let order = [
        "id",
        "name",
        "api_key",
        "api_secret",
        "shared_secret",
        "callback_url",
        "manages_all_domain_resources",
    ];
    assert_eq!(field_names(&json), order);
    let created: Value = serde_json::from_str(&json).unwrap();
    let api_key = created["api_key"].as_str().unwrap();
    assert!(api_key.starts_with("gk_") && api_key.len() == 35);
    let stored = setup
        .environment
        .store
        .read_snapshot(|reads| reads.find_provider_by_api_key(api_key))
        .unwrap()
        .unwrap();
    let keys = &setup.environment.keys;
    assert!(keys.verify_secret(created["api_secret"].as_str().unwrap(), &stored.api_secret_hash));
    let shared = keys.decrypt_secret(stored.id, &stored.encrypted_shared_secret).unwrap();
    assert_eq!(created["shared_secret"], shared.expose());
}

#[test]
fn providers_are_listed_and_changed() {
    let setup = Setup::new();
    assert_eq!(setup.run_for_json(&["provider", "list"]).unwrap(), "[]");
    let created =
        setup.run_for_value(&["provider", "create", "--name", "Acme", "--manages-all-domain-resources"]);
    let id = created["id"].as_str().unwrap();
    let hook = "https://example.com/hook";
    let set =
        setup.run_for_json(&["provider", "set", id, "--callback-url", hook, "--suspended", "true"]).unwrap();
    let order =
        ["id", "name", "api_key", "callback_url", "manages_all_domain_resources", "suspended", "created_at"];
    assert_eq!(field_names(&set), order);
    let listed = setup.run_for_value(&["provider", "list"]);
    assert_eq!(listed, serde_json::json!([serde_json::from_str::<Value>(&set).unwrap()]));
    assert_eq!((&listed[0]["callback_url"], &listed[0]["suspended"]), (&hook.into(), &true.into()));
    assert_eq!(listed[0]["manages_all_domain_resources"], true);
    let cleared = setup.run_for_value(&[
        "provider",
        "set",
        id,
        "--no-callback-url",
        "--manages-all-domain-resources",
        "false",
    ]);
    assert_eq!((&cleared["callback_url"], &cleared["suspended"]), (&Value::Null, &true.into()));
    assert_eq!(cleared["manages_all_domain_resources"], false);
    setup.assert_refused(&["provider", "set", id, "--callback-url", "https://10.0.0.1/"], "public");
    setup.assert_refused(&["provider", "set", id, "--name", " "], "name must be");
    setup.assert_refused(&["provider", "set", MISSING_ID, "--name", "x"], "no provider has this id");
}

#[test]
fn a_rotated_secret_replaces_the_old_one() {
    let setup = Setup::new();
    let created = setup.run_for_value(&["provider", "create", "--name", "Acme"]);
    let id = created["id"].as_str().unwrap();
    let rotated = setup.run_for_json(&["provider", "rotate", id, "--api-secret"]).unwrap();
    assert_eq!(field_names(&rotated), ["id", "api_key", "api_secret"]);
    let rotated: Value = serde_json::from_str(&rotated).unwrap();
    let shared = setup.run_for_json(&["provider", "rotate", id, "--shared-secret"]).unwrap();
    assert_eq!(field_names(&shared), ["id", "shared_secret"]);
    let key = created["api_key"].as_str().unwrap();
    let stored = setup.environment.store.read_snapshot(|reads| reads.find_provider_by_api_key(key)).unwrap();
    let hash = stored.unwrap().api_secret_hash;
    assert!(!setup.environment.keys.verify_secret(created["api_secret"].as_str().unwrap(), &hash));
    assert!(setup.environment.keys.verify_secret(rotated["api_secret"].as_str().unwrap(), &hash));
    setup.assert_refused(&["provider", "rotate", MISSING_ID, "--shared-secret"], "no provider");
    let parsed = |arguments: &[&str]| {
        CommandLine::try_parse_from([&["guerdon", "provider", "rotate", id], arguments].concat())
    };
    assert!(parsed(&[]).is_err() && parsed(&["--api-secret", "--shared-secret"]).is_err());
}

#[test]
fn money_commands_on_missing_companies_are_refused() {
    let setup = Setup::new();
    let absent = format!("no company has the id {MISSING_ID}");
    setup.assert_refused(&["reserve", "show", MISSING_ID], &absent);
    setup.assert_refused(&["reserve", "deposit", MISSING_ID, "--points", "5"], &absent);
    setup.assert_refused(&["reserve", "deposit", MISSING_ID, "--points", "5", "--key", "k"], &absent);
    setup.assert_refused(
        &["company", "options", MISSING_ID, "--allow-zero-points", "true"],
        "no company has this id",
    );
    let run = ["distribution", "run", MISSING_ID, "--wallet", "peer_wallet", "--points", "5"];
    setup.assert_refused(&run, &absent);
}

#[test]
fn a_global_occasion_is_shown_as_the_api_does() {
    let setup = Setup::new();
    let arguments = ["occasion", "create-global", "--name", "N", "--title", "T", "--default-message", "M"];
    let json = setup.run_for_json(&arguments).unwrap();
    let order = [
        "id",
        "company_id",
        "name",
        "title",
        "default_message",
        "enabled",
        "visible",
        "global",
        "created_at",
        "updated_at",
    ];
    assert_eq!(field_names(&json), order);
    let created: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&created["company_id"], &created["global"]), (&Value::Null, &true.into()));
}

#[test]
fn maintenance_mode_is_stored_and_the_ledger_is_valid() {
    let setup = Setup::new();
    assert_eq!(setup.run_for_json(&["maintenance", "on"]).unwrap(), r#"{"maintenance":"on"}"#);
    assert_eq!(setup.run_for_json(&["maintenance", "off"]).unwrap(), r#"{"maintenance":"off"}"#);
    let no_rows = r#"{"journal_entries":0,"transfers":0,"accounts":0,"recognitions":0,"events":0,"seals":0}"#;
    let valid = format!(r#"{{"ok":true,"violations":[],"checked":{no_rows}}}"#);
    assert_eq!(setup.run_for_json(&["verify"]).unwrap(), valid);
}

/// Creates a company of a provider, with its owner as the only user.
fn create_company(setup: &Setup) -> String {
    let provider = setup.run_for_value(&["provider", "create", "--name", "Acme"]);
    let scope = ProviderId::from_uuid(provider["id"].as_str().unwrap().parse().unwrap());
    let line = |text: &str| values::SingleLine::parse(text).unwrap();
    let new = CreateCompany::with_defaults(
        DomainName::parse("example.com").unwrap(),
        line("Example"),
        (EmailAddress::parse("olive@example.com").unwrap(), line("Olive")),
        WebUrl::parse("https://example.com/logo.png").unwrap(),
    );
    let environment = &setup.environment;
    let created =
        environment.store.transaction(|tx| create(tx, scope, &new, &environment.context())).unwrap();
    created.company.id.to_string()
}

#[test]
fn a_deposit_with_a_key_runs_once() {
    let setup = Setup::new();
    let id = create_company(&setup);
    let deposit = |points: &str, key: &[&str]| {
        setup.run_for_json(&[&["reserve", "deposit", &id, "--points", points], key].concat())
    };
    let expected = |points: i64| format!(r#"{{"company_id":"{id}","points":{points}}}"#);
    assert_eq!(deposit("100", &["--key", "june"]).unwrap(), expected(100));
    assert_eq!(deposit("7", &[]).unwrap(), expected(107));
    assert_eq!(deposit("100", &["--key", "june"]).unwrap(), expected(100), "the stored response");
    setup.assert_refused(
        &["reserve", "deposit", &id, "--points", "99", "--key", "june"],
        "a different command",
    );
    let run = ["distribution", "run", &id, "--wallet", "peer_wallet", "--points", "100", "--key", "june"];
    setup.assert_refused(&run, "a different command");
    setup.assert_refused(&["reserve", "deposit", &id, "--points", "0"], "points must be");
    assert_eq!(setup.run_for_json(&["reserve", "show", &id]).unwrap(), expected(107));
}

#[test]
fn a_distribution_is_paid_from_the_reserve_all_or_nothing() {
    let setup = Setup::new();
    let id = create_company(&setup);
    setup.run_for_value(&["reserve", "deposit", &id, "--points", "100"]);
    let arguments = ["distribution", "run", &id, "--wallet", "peer_wallet", "--points", "60", "--key", "k"];
    let done = format!(r#"{{"company_id":"{id}","users":1,"points":60}}"#);
    assert_eq!(setup.run_for_json(&arguments).unwrap(), done);
    assert_eq!(setup.run_for_json(&arguments).unwrap(), done);
    setup.assert_refused(
        &["distribution", "run", &id, "--wallet", "user_wallet", "--points", "41"],
        "Insufficient funds",
    );
    setup.assert_refused(
        &["distribution", "run", &id, "--wallet", "manager_wallet", "--points", "1"],
        "no active user",
    );
    let foreign_user =
        ["distribution", "run", &id, "--wallet", "peer_wallet", "--points", "1", "--user", MISSING_ID];
    setup.assert_refused(&foreign_user, "is not an active user");
    assert_eq!(setup.run_for_value(&["reserve", "show", &id])["points"], 40);
    assert_eq!(setup.run_for_value(&["verify"])["ok"], true);
    let options = setup.run_for_json(&["company", "options", &id, "--allow-zero-points", "true"]).unwrap();
    assert_eq!(options, format!(r#"{{"company_id":"{id}","allow_zero_points":true}}"#));
}

#[test]
fn every_command_is_on_a_page() {
    fn assert_documented(command: &clap::Command, path: &str, pages: &str) {
        for subcommand in command
            .get_subcommands()
            .filter(|subcommand| subcommand.get_name() != "help" && !subcommand.is_hide_set())
        {
            let path = format!("{path} {}", subcommand.get_name());
            if subcommand.has_subcommands() {
                assert_documented(subcommand, &path, pages);
            } else {
                assert!(pages.contains(&path), "`{path}` is missing in docs/");
            }
        }
    }
    let pages =
        [include_str!("../../../../../docs/operating.md"), include_str!("../../../../../docs/delivery.md")];
    assert_documented(&<CommandLine as clap::CommandFactory>::command(), "guerdon", &pages.concat());
}
