//! A hint for operators of a new database: the command that creates the first provider.

use std::path::Path;

use guerdon_domain::ports::{Store, StoreError, StoreExt as _};

/// Logs the command that creates a provider, unless one exists.
pub(super) fn log_next_step(store: &dyn Store, config_file: Option<&Path>) {
    let has_providers = store
        .read_snapshot(|reads| -> Result<_, StoreError> { Ok(!reads.list_providers()?.is_empty()) })
        .unwrap_or(true);
    if !has_providers {
        let command = provider_command(config_file);
        log::info!(command:%; "no provider exists yet: this command creates one and prints its API credentials");
    }
}

/// The command, with the settings that the service was started with.
fn provider_command(config_file: Option<&Path>) -> String {
    let config = config_file.map_or_else(String::new, |file| {
        let path = file.display().to_string();
        let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        let path = if is_plain { path } else { format!("'{}'", path.replace('\'', r"'\''")) };
        format!(" --config {path}")
    });
    format!("guerdon{config} provider create --name \"Acme\" --manages-all-domain-resources")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_pasted() {
        let check = |file: Option<&str>, config: &str| {
            let expected =
                format!("guerdon{config} provider create --name \"Acme\" --manages-all-domain-resources");
            assert_eq!(provider_command(file.map(Path::new)), expected);
        };
        check(None, "");
        check(Some("/etc/guerdon/guerdon.toml"), " --config /etc/guerdon/guerdon.toml");
        check(Some("my settings' file"), r" --config 'my settings'\'' file'");
    }
}
