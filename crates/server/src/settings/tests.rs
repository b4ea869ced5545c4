//! Tests of defaults, overrides and invalid settings.

use std::ffi::OsString;
use std::io::Write;

use super::{ListenAddresses, Settings, Tls};

fn load_settings(toml: &str, environment: &[(&str, &str)]) -> anyhow::Result<Settings> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(toml.as_bytes())?;
    let environment = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Settings::from_sources(Some(file.path()), environment)
}

fn masked_json(settings: &Settings) -> serde_json::Value {
    serde_json::to_value(settings.to_masked()).unwrap()
}

fn assert_refused(toml: &str, environment: &[(&str, &str)], part: &str) {
    let cause = load_settings(toml, environment).err().expect("must be refused");
    let line = format!("{cause:#}");
    assert!(line.contains(part), "`{line}` does not say `{part}`");
}

#[test]
fn every_key_has_the_documented_default() {
    let settings = Settings::from_sources(None, std::iter::empty()).unwrap();
    assert_eq!(
        settings.to_masked().to_toml(),
        concat!(
            "data_dir = \"./guerdon-data\"\n",
            "# cell is unset\n",
            "database.url = \"sqlite://./guerdon-data/guerdon.db\"\n",
            "database.migrate = true\n",
            "http.listen = \"127.0.0.1:8443\"\n",
            "http.tls.mode = \"self-signed\"\n",
            "# http.tls.certificate is unset\n",
            "# http.tls.private_key is unset\n",
            "http.trusted_proxies = []\n",
            "http.retired_versions = []\n",
            "http.sunsets = []\n",
            "http.max_connections = 0\n",
            "http.max_connections_per_address = 256\n",
            "http.keep_alive_seconds = 75\n",
            "http.drain_seconds = 1\n",
            "operator.listen = \"127.0.0.1:9090\"\n",
            "service_url = \"https://localhost:8443\"\n",
            "rate_limit.requests_per_second = 200\n",
            "rate_limit.burst = 400\n",
            "rate_limit.failed_logins_per_minute = 20\n",
            "webhooks.allow_private_networks = false\n",
            "webhooks.allow_http = false\n",
            "webhooks.time_scale = 1.0\n",
            "# webhooks.extra_roots is unset\n",
            "# mail.smtp_url is unset\n",
            "# mail.from is unset\n",
            "# mail.extra_roots is unset\n",
            "retention.events_days = 30\n",
            "retention.mails_days = 30\n",
            "retention.idempotency_hours = 72\n",
            "verify.daily_at = \"03:00\"\n",
            "# master_key is unset\n",
            "# master_key_file is unset\n",
            "log.level = \"info\"\n",
            "log.format = \"text\"\n",
            "log.requests = false\n",
        )
    );
}

#[test]
fn tests_alone_allow_a_server_that_loses_commits() {
    const VARIABLE: &str = "GUERDON_ALLOW_UNSAFE_POSTGRES";
    assert!(load_settings("", &[(VARIABLE, "1")]).unwrap().allow_unsafe_postgres);
    for value in ["", "0", "true"] {
        assert!(!load_settings("", &[(VARIABLE, value)]).unwrap().allow_unsafe_postgres, "{value}");
    }
    assert_refused("allow_unsafe_postgres = true", &[], "unknown setting `allow_unsafe_postgres`");
}

#[test]
fn shown_settings_can_be_parsed() {
    let toml = "data_dir = '/srv/g'\nwebhooks.time_scale = 60\nretention.idempotency_hours = 0\n";
    let settings = load_settings(toml, &[]).unwrap();
    assert_eq!(masked_json(&settings)["retention.idempotency_hours"], 0);
    let again = load_settings(&settings.to_masked().to_toml(), &[]).unwrap();
    assert_eq!(settings.to_masked(), again.to_masked());
}

#[test]
fn the_environment_overrides_the_file() {
    let toml = "[rate_limit]\nburst = 7\n[log]\nlevel = 'debug'\n";
    let settings =
        load_settings(toml, &[("GUERDON_RATE_LIMIT__BURST", "9"), ("OTHER", "1"), ("GUERDON_DATA_DIR", "")])
            .unwrap();
    assert_eq!(settings.rate_limits.burst, 9);
    assert_eq!(settings.log.level, log::LevelFilter::Debug);
    assert_eq!(settings.data_dir.to_str(), Some("./guerdon-data"));
}

#[test]
fn daily_verification_can_be_turned_off() {
    let daily_at = |text: &str| {
        let settings = load_settings(&format!("verify.daily_at = '{text}'"), &[]).unwrap();
        (settings.verify_daily_at, masked_json(&settings)["verify.daily_at"].as_str().unwrap().to_owned())
    };
    assert_eq!(daily_at("off"), (None, "off".to_owned()));
    assert_eq!(daily_at("23:59"), (time::Time::from_hms(23, 59, 0).ok(), "23:59".to_owned()));
}

#[test]
fn a_list_is_comma_separated_in_the_environment() {
    let environment =
        [("GUERDON_HTTP__TRUSTED_PROXIES", "10.0.0.1, 192.168.0.0/16"), ("GUERDON_HTTP__TLS__MODE", "proxy")];
    let settings = load_settings("http.retired_versions = ['v0']", &environment).unwrap();
    let trusted = vec!["10.0.0.1/32".parse().unwrap(), "192.168.0.0/16".parse().unwrap()];
    assert_eq!((settings.http.tls, settings.http.trusted_proxies), (Tls::Proxy, trusted));
    assert_eq!(settings.http.retired_versions, ["v0"]);
}

#[test]
fn a_cell_has_a_short_name_in_lowercase() {
    assert_eq!(load_settings("cell = 'eu-1'", &[]).unwrap().cell.as_deref(), Some("eu-1"));
    for name in ["", "EU", "eu 1", "eu\u{301}", &"x".repeat(64)] {
        let message = format!("cell must be 1 to 63 lowercase letters, digits and hyphens, not `{name}`");
        assert_refused(&format!("cell = '{name}'"), &[], &message);
    }
}

#[test]
fn no_secret_is_shown() {
    let key = "5e".repeat(32);
    let environment = [
        ("GUERDON_MASTER_KEY", key.as_str()),
        ("GUERDON_DATABASE__URL", "postgres://guerdon:hunter2@db.example.com/guerdon?sslmode=disable"),
        ("GUERDON_MAIL__SMTP_URL", "smtps://mailer:hunter2@mail.example.com"),
        ("GUERDON_MAIL__FROM", "guerdon@example.com"),
    ];
    let shown = masked_json(&load_settings("", &environment).unwrap());
    assert_eq!(shown["master_key"], "***");
    assert_eq!(shown["database.url"], "postgres://guerdon:***@db.example.com/guerdon?sslmode=disable");
    assert_eq!(shown["mail.smtp_url"], "smtps://mailer:***@mail.example.com");
    let in_query = [("GUERDON_DATABASE__URL", "postgres://localhost/g?user=a&password=hunter2")];
    let shown = self::masked_json(&load_settings("", &in_query).unwrap());
    assert_eq!(shown["database.url"], "postgres://localhost/g?user=a&password=***");
    let several =
        [("GUERDON_DATABASE__URL", "postgres://g:hunter2@a.example:5432,b.example:5433/g?sslmode=disable")];
    let shown = self::masked_json(&load_settings("", &several).unwrap());
    let expected = "postgres://g:***@a.example:5432,b.example:5433/g?sslmode=disable";
    assert_eq!(shown["database.url"], expected);
}

#[test]
fn an_unknown_key_is_named() {
    assert_refused("[http]\nlisen = '1'", &[], "unknown setting `http.lisen`");
    assert_refused("[wires]", &[], "unknown setting `wires`");
    assert_refused("http = 3", &[], "unknown setting `http`");
    assert_refused("[database.url]\nx = 1", &[], "unknown setting `database.url.x`");
    assert_refused("", &[("GUERDON_DATABASE_URL", "sqlite://x")], "GUERDON_DATABASE_URL");
}

#[test]
fn a_wrong_value_is_refused_by_name() {
    assert_refused("http.listen = 'here'", &[], "http.listen must be");
    assert_refused("http.tls.mode = 'none'", &[], "http.tls.mode must be");
    assert_refused("http.tls.mode = 'proxy'", &[], "http.trusted_proxies");
    assert_refused("http.tls.mode = 'files'", &[], "http.tls.certificate");
    assert_refused("http.tls.certificate = '/c'", &[], "http.tls.mode = \"files\"");
    assert_refused("rate_limit.burst = -1", &[], "rate_limit.burst");
    assert_refused("rate_limit.burst = 0", &[], "rate_limit.burst must be at least 1, not 0");
    assert_refused("webhooks.time_scale = 0", &[], "webhooks.time_scale");
    assert_refused("service_url = 'here'", &[], "service_url");
    assert_refused("log.level = 'loud'", &[], "log.level");
    assert_refused("database.url = 'mysql://x'", &[], "database.url");
    assert_refused("database.migrate = 'later'", &[], "database.migrate");
    assert_refused("mail.smtp_url = 'http://x'", &[], "mail.smtp_url");
    assert_refused("mail.extra_roots = '/roots.pem'", &[], "mail.extra_roots needs mail.smtp_url");
    assert_refused("master_key = '5e5e'", &[], "master_key must be 64 hex digits");
    for wrong in ["3:00", "24:00", "03:60", "03:00:00", "never", "+3:00", ""] {
        assert_refused(&format!("verify.daily_at = '{wrong}'"), &[], "verify.daily_at must be a time of day");
    }
    assert_refused("# settings\ndata_dir = \"x", &[], "is not valid TOML: line 2: ");
}

#[test]
fn error_messages_name_settings_and_not_libraries() {
    let check = |toml: &str, environment: &[(&str, &str)], expected: &str| {
        let cause = load_settings(toml, environment).err().expect("must be refused");
        assert_eq!(format!("{cause:#}"), expected);
    };
    check("log.level = 'loud'", &[], "log.level must be off, error, warn, info, debug or trace, not `loud`");
    check(
        "http.listen = 'here'",
        &[],
        "http.listen must be an address and a port such as 127.0.0.1:8443, not `here`",
    );
    check(
        "rate_limit.burst = -1",
        &[],
        "rate_limit.burst must be a whole number from 0 to 4294967295, not `-1`",
    );
    check(
        "",
        &[("GUERDON_DATABASE__MIGRATE", "later")],
        "database.migrate must be true or false, not `later`",
    );
    check("webhooks.time_scale = 'fast'", &[], "webhooks.time_scale must be a number, not `fast`");
    check("http.retired_versions = 3", &[], "http.retired_versions must be a list of strings, not `3`");
    check("mail.from = ['a@a.example']", &[], "mail.from must be a string");
}

#[test]
fn a_syntax_error_names_the_line_without_its_text() {
    let cause = load_settings("# settings\nmaster_key = \"5e5e", &[]).err().unwrap();
    let line = format!("{cause:#}");
    assert!(line.contains("line 2: ") && !line.contains("5e5e") && !line.contains('|'), "{line}");
}

#[test]
fn an_invalid_master_key_is_not_printed() {
    let cause = load_settings("master_key = 'not-so-secret'", &[]).err().unwrap();
    assert!(!format!("{cause:#}").contains("not-so-secret"));
}

#[test]
fn listen_addresses_are_read_without_the_other_settings() {
    let load = |toml: &str, environment: &[(&str, &str)]| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(toml.as_bytes()).unwrap();
        let environment =
            environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        ListenAddresses::load(Some(file.path()), environment)
    };
    let other = ("GUERDON_DATABASE__URL", "postgres:///x");
    assert_eq!(load("", &[other]).unwrap(), ListenAddresses { http: None, operator: None });
    let both = load(
        "http.listen = \"127.0.0.1:1\"\noperator.listen = \"[::]:2\"",
        &[other, ("GUERDON_HTTP__LISTEN", "0.0.0.0:3")],
    );
    let address = |text: &str| Some(text.parse().unwrap());
    assert_eq!(both.unwrap(), ListenAddresses { http: address("0.0.0.0:3"), operator: address("[::]:2") });
    let invalid = load("", &[("GUERDON_OPERATOR__LISTEN", "0.0.0.0")]).unwrap_err();
    assert!(invalid.to_string().contains("operator.listen must be an address and a port"), "{invalid}");
}
