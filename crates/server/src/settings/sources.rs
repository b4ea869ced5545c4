//! Merges the settings of the file and the environment. Fails for an unknown key with an error that names it.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, bail};
use config::{Config, File, FileFormat, Map, Source, Value, ValueKind};

use super::keys::{ALLOW_UNSAFE_POSTGRES, is_known, is_list, is_section};
use crate::platform::files;

const VARIABLE_PREFIX: &str = "GUERDON_";
/// Variables that `guerdon listen` reads from the environment; they are not settings.
const CREDENTIAL_KEYS: [&str; 2] = ["api_key", "api_secret"];

/// Reads and merges both sources.
pub(super) fn merge_sources(
    file: Option<&Path>,
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> anyhow::Result<Config> {
    let mut builder = Config::builder();
    if let Some(path) = file {
        let text = files::read_small_text(path)
            .with_context(|| format!("cannot read the settings in {}", path.display()))?;
        let source = File::from_str(&text, FileFormat::Toml);
        if let Err(fault) = toml::from_str::<toml::Table>(&text) {
            let before = fault.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            bail!("{} is not valid TOML: line {line}: {}", path.display(), fault.message());
        }
        let table = source.collect().with_context(|| path.display().to_string())?;
        refuse_unknown(&table, "").with_context(|| path.display().to_string())?;
        builder = builder.add_source(source);
    }
    for (name, value) in environment {
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(VARIABLE_PREFIX)) else { continue };
        let key = name.to_lowercase().replace("__", ".");
        if key == ALLOW_UNSAFE_POSTGRES {
            builder = builder.set_override(&key, value == "1")?;
            continue;
        }
        if CREDENTIAL_KEYS.contains(&key.as_str()) {
            continue;
        }
        if !is_known(&key) {
            bail!("unknown setting `{key}` (from the environment variable {VARIABLE_PREFIX}{name})");
        }
        let Some(value) = value.to_str() else { bail!("{VARIABLE_PREFIX}{name} is not UTF-8") };
        builder = if is_list(&key) {
            builder.set_override(&key, split_list(value))?
        } else if value.is_empty() {
            builder // an empty variable counts as unset
        } else {
            builder.set_override(&key, value)?
        };
    }
    Ok(builder.build()?)
}

fn split_list(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn refuse_unknown(table: &Map<String, Value>, section: &str) -> anyhow::Result<()> {
    for (name, value) in table {
        let key = if section.is_empty() { name.clone() } else { format!("{section}.{name}") };
        match &value.kind {
            ValueKind::Table(inner) if is_section(&key) || !inner.is_empty() => refuse_unknown(inner, &key)?,
            _ if is_known(&key) => {}
            _ => bail!("unknown setting `{key}`"),
        }
    }
    Ok(())
}
