//! At the start, logs warnings about settings that are allowed but less secure than recommended.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::settings::{Settings, Tls};

/// Logs each warning that applies.
pub(super) fn log_warnings(settings: &Settings) {
    for line in collect_warnings(settings) {
        log::warn!(detail = line.as_str(); "the configuration or a file mode is less secure than recommended");
    }
}

fn collect_warnings(settings: &Settings) -> Vec<String> {
    let mut lines = Vec::new();
    if !settings.operator_listen.ip().is_loopback() {
        lines.push(format!(
            "operator.listen is {}: anyone who can reach that address can read the console, metrics and health",
            settings.operator_listen
        ));
    }
    if let Some(open_network) = settings.http.trusted_proxies.iter().find(|network| network.prefix_len() == 0)
    {
        let claim = if settings.http.tls == Tls::Proxy { "claim HTTPS and " } else { "" };
        lines.push(format!(
            "http.trusted_proxies includes {open_network}: any client of {} can {claim}forge its address",
            settings.http.listen
        ));
    }
    for path in [settings.data_dir.clone(), settings.data_dir.join(crate::keys::MASTER_KEY_FILE)] {
        if let Some(mode) = mode_if_open_to_others(&path) {
            let shown = path.display();
            lines.push(format!(
                "{shown} is accessible to other users (mode {mode:o}): run `chmod go= {shown}`"
            ));
        }
    }
    lines
}

/// Returns the mode of a file or folder if users other than its owner have access.
fn mode_if_open_to_others(path: &Path) -> Option<u32> {
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs::{Permissions, set_permissions, write};

    use super::*;

    fn load_settings(variables: &[(&str, &str)]) -> Settings {
        let environment = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        Settings::from_sources(None, environment).unwrap()
    }

    #[test]
    fn world_accessible_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let data = ("GUERDON_DATA_DIR", folder.path().to_str().unwrap());
        set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let check = |variables: &[(&str, &str)], expected: &[&str]| {
            let lines = collect_warnings(&load_settings(&[&[data], variables].concat()));
            assert_eq!(lines.len(), expected.len(), "{lines:?}");
            assert!(lines.iter().zip(expected).all(|(line, part)| line.contains(part)), "{lines:?}");
        };
        let proxy = ("GUERDON_HTTP__TLS__MODE", "proxy");
        let trusted = |proxies| ("GUERDON_HTTP__TRUSTED_PROXIES", proxies);
        check(&[], &[]);
        check(&[("GUERDON_OPERATOR__LISTEN", "[::1]:1")], &[]);
        check(&[("GUERDON_OPERATOR__LISTEN", "0.0.0.0:1")], &["operator.listen is 0.0.0.0:1"]);
        check(&[proxy, trusted("10.0.0.0/8")], &[]);
        check(&[proxy, trusted("10.0.0.0/8,::/0")], &["::/0: any client of 127.0.0.1:8443 can claim HTTPS"]);
        check(&[trusted("0.0.0.0/0")], &["any client of 127.0.0.1:8443 can forge its address"]);
        let key = folder.path().join(crate::keys::MASTER_KEY_FILE);
        write(&key, "x").unwrap();
        set_permissions(&key, Permissions::from_mode(0o640)).unwrap();
        check(&[], &["mode 640"]);
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        check(&[], &["mode 755", "mode 640"]);
    }
}
