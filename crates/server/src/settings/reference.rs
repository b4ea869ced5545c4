//! Checks that `docs/guerdon.toml`, the operators' reference, lists every key with its actual default.

use std::ffi::OsString;
use std::io::Write;

use config::{File, FileFormat, Source, Value, ValueKind};

use super::Settings;
use super::keys::SETTING_KEYS;

const REFERENCE: &str = include_str!("../../../../docs/guerdon.toml");

/// The default settings.
fn default_settings() -> Settings {
    Settings::from_sources(None, std::iter::empty()).unwrap()
}

fn load_settings(toml: &str) -> Settings {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(toml.as_bytes()).unwrap();
    Settings::from_sources(Some(file.path()), std::iter::empty()).unwrap()
}

/// Returns whether a line is a setting that is commented out. In comments, a space follows the `#`.
fn is_setting(line: &str) -> bool {
    line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Returns the reference with the settings that `is_selected` selects uncommented.
fn uncomment_settings(is_selected: impl Fn(&str) -> bool) -> String {
    let uncomment = |section: &str, line: &str| {
        let setting = line.trim_start_matches('#');
        let name = setting.split(" = ").next().unwrap();
        let key = if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") };
        is_selected(&key).then(|| setting.to_owned())
    };
    let mut section = String::new();
    let mut lines = Vec::new();
    for line in REFERENCE.lines() {
        if is_setting(line) {
            lines.extend(uncomment(&section, line));
        } else {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = name.to_owned();
            }
            lines.push(line.to_owned());
        }
    }
    lines.join("\n")
}

/// Returns every key of a TOML document with its value.
fn flatten_values(toml: &str) -> Vec<(String, Value)> {
    fn flatten_into(prefix: &str, value: Value, found: &mut Vec<(String, Value)>) {
        match value.kind {
            ValueKind::Table(inner) => {
                for (name, value) in inner {
                    flatten_into(&format!("{prefix}{name}."), value, found);
                }
            }
            _ => found.push((prefix.trim_end_matches('.').to_owned(), value)),
        }
    }
    let mut found = Vec::new();
    for (name, value) in File::from_str(toml, FileFormat::Toml).collect().unwrap() {
        flatten_into(&format!("{name}."), value, &mut found);
    }
    found
}

fn is_unset(key: &str) -> bool {
    serde_json::to_value(default_settings().to_masked()).unwrap()[key].is_null()
}

#[test]
fn the_reference_as_written_changes_nothing() {
    assert_eq!(load_settings(REFERENCE).to_masked(), default_settings().to_masked());
}

#[test]
fn the_reference_has_exactly_the_known_keys() {
    let mut keys: Vec<String> =
        flatten_values(&uncomment_settings(|_| true)).into_iter().map(|(key, _)| key).collect();
    keys.sort_unstable();
    let mut expected = SETTING_KEYS;
    expected.sort_unstable();
    assert_eq!(keys, expected);
}

#[test]
fn every_shown_default_is_the_actual_one() {
    // Each key is checked separately, so that one error does not hide another and no key is left out.
    for key in SETTING_KEYS.into_iter().filter(|key| !is_unset(key)) {
        let text = uncomment_settings(|name| name == key);
        let shown = flatten_values(&text).pop().unwrap().1;
        let other = load_settings(&text).to_masked();
        assert_eq!(other, default_settings().to_masked(), "{key} is shown as {shown}");
    }
}

#[test]
fn a_key_without_a_default_is_marked_unset_with_a_valid_example() {
    let mut environment = vec![(OsString::from("GUERDON_HTTP__TLS__MODE"), OsString::from("files"))];
    for (key, value) in flatten_values(&uncomment_settings(is_unset)) {
        let name = format!("GUERDON_{}", key.to_uppercase().replace('.', "__"));
        environment.push((name.into(), value.to_string().into()));
        let name = key.rsplit('.').next().unwrap();
        let before = REFERENCE.split(&format!("\n#{name} = ")).next().unwrap();
        let comment = before.rsplit("\n\n").next().unwrap();
        assert!(comment.contains("Unset by default"), "{key}: {comment}");
    }
    let settings = Settings::from_sources(None, environment.into_iter()).unwrap();
    let shown = serde_json::to_value(settings.to_masked()).unwrap();
    assert!(SETTING_KEYS.into_iter().filter(|key| is_unset(key)).all(|key| !shown[key].is_null()), "{shown}");
}

#[test]
fn every_setting_has_a_comment() {
    let lines: Vec<&str> = REFERENCE.lines().collect();
    for pair in lines.windows(2).filter(|pair| is_setting(pair[1])) {
        assert!(pair[0].starts_with("# "), "{} has no comment", pair[1]);
    }
    assert!(lines.iter().all(|line| line.chars().count() <= 118));
}
