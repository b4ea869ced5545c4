//! Where the master key comes from, and that it is the database's own.

use std::path::Path;

use anyhow::{Context, bail};
use data_encoding::HEXLOWER;
use guerdon_domain::ports::{Setting, Store, StoreError, StoreExt, Tx};
use zeroize::Zeroizing;

use super::Keys;
use crate::platform::{files, random};
use crate::settings::{MasterKey, Settings};

/// What the master key's file in the data folder is called.
pub(crate) const FILE: &str = "master.key";

/// The keys of a database: derived from the configured master key, on the embedded database else from the data
/// folder's, which is made where the database knows none. A key that is not the database's own is refused.
pub(crate) fn settle(settings: &Settings, store: &dyn Store) -> anyhow::Result<Keys> {
    require(settings)?;
    let master = match given(settings)? {
        Some(key) => key,
        None => in_data_folder(&settings.data_dir.join(FILE), store)?,
    };
    let keys = Keys::of(&master)?;
    adopt(store, &keys)?;
    Ok(keys)
}

/// The keys over the secrets for a command that only reads: nothing is created or stored. Fails if the database was
/// created with another master key, or if there is none.
pub(crate) fn look_up(settings: &Settings, store: &dyn Store) -> anyhow::Result<Keys> {
    require(settings)?;
    let master = match given(settings)? {
        Some(key) => key,
        None => read(&settings.data_dir.join(FILE))?,
    };
    let keys = Keys::of(&master)?;
    if let Some(kept) = kept_fingerprint(store)? {
        compare(keys.fingerprint(), &kept)?;
    }
    Ok(keys)
}

/// Refuses settings that name no master key where the data folder cannot have it: it may be another one on every
/// machine.
pub(crate) fn require(settings: &Settings) -> anyhow::Result<()> {
    if given(settings)?.is_none() && settings.embedded_database().is_none() {
        bail!(
            "master_key must be set for PostgreSQL (or master_key_file): 64 hex digits, the same for every process"
        )
    }
    Ok(())
}

/// The master key that the settings give, or the file that they name.
pub(crate) fn given(settings: &Settings) -> anyhow::Result<Option<MasterKey>> {
    match &settings.master_key_file {
        Some(_) if settings.master_key.is_some() => {
            bail!("master_key and master_key_file are both set: keep one")
        }
        Some(file) => read(file).context("master_key_file").map(Some),
        None => Ok(settings.master_key.clone()),
    }
}

/// The master key in a data folder, if one is there.
pub(crate) fn in_file(data_dir: &Path) -> anyhow::Result<Option<MasterKey>> {
    let path = data_dir.join(FILE);
    let is_there = path.try_exists();
    let is_there =
        is_there.with_context(|| format!("cannot look for the master key in {}", path.display()))?;
    is_there.then(|| read(&path)).transpose()
}

fn in_data_folder(path: &Path, store: &dyn Store) -> anyhow::Result<MasterKey> {
    let is_there = path.try_exists();
    if !is_there.with_context(|| format!("cannot look for the master key in {}", path.display()))? {
        if kept_fingerprint(store)?.is_some() {
            bail!(
                "the master key in {} is gone, and without it this database's secrets are unreadable",
                path.display()
            );
        }
        let bytes = Zeroizing::new(random::bytes::<32>()?);
        let text = Zeroizing::new(format!("{}\n", HEXLOWER.encode(bytes.as_slice())));
        files::ensure_private_folder(path.parent().unwrap_or(path))?;
        files::create_private_file(path, text.as_bytes())?; // another process may have been first: read its key
    }
    read(path)
}

fn read(path: &Path) -> anyhow::Result<MasterKey> {
    let text = files::small_text(path)
        .with_context(|| format!("cannot read the master key in {}", path.display()))?;
    match MasterKey::parse(&text) {
        Ok(key) => Ok(key),
        Err(_) => bail!("{} does not hold a master key of 64 hex digits", path.display()),
    }
}

fn kept_fingerprint(store: &dyn Store) -> Result<Option<String>, StoreError> {
    store.snapshot(|reads| reads.setting(Setting::MasterKeyFingerprint))
}

/// Whether the key that is here is that of a database which has this fingerprint; `false` where that has none yet.
pub(crate) fn is_own(settings: &Settings, kept: Option<&str>) -> anyhow::Result<bool> {
    require_own(settings, kept)?;
    let found = given(settings)?.map_or_else(|| in_file(&settings.data_dir), |it| Ok(Some(it)))?;
    if kept.is_some() && found.is_none() {
        bail!("the database has a master key, and none is here");
    }
    Ok(kept.is_some())
}

/// Refuses a key that is not the one of a database which has this fingerprint, before it is opened.
pub(crate) fn require_own(settings: &Settings, kept: Option<&str>) -> anyhow::Result<()> {
    let found = given(settings)?.map_or_else(|| in_file(&settings.data_dir), |it| Ok(Some(it)))?;
    match (found, kept) {
        (Some(key), Some(kept)) => compare(&key.fingerprint(), kept),
        _ => Ok(()),
    }
}

/// Notes the key's fingerprint on first use; later refuses another key.
fn adopt(store: &dyn Store, keys: &Keys) -> anyhow::Result<()> {
    let kept = match kept_fingerprint(store)? {
        Some(kept) => kept,
        None => store.transaction(|tx| note(tx, keys))?,
    };
    compare(keys.fingerprint(), &kept)
}

fn compare(found: &str, kept: &str) -> anyhow::Result<()> {
    if kept != found {
        bail!(
            "this master key (fingerprint {found}) is not the one this database was made with (fingerprint {kept})"
        );
    }
    Ok(())
}

/// Notes the fingerprint, unless another process was first; answers the one that is kept.
fn note(tx: &mut dyn Tx, keys: &Keys) -> Result<String, StoreError> {
    if let Some(kept) = tx.setting(Setting::MasterKeyFingerprint)? {
        return Ok(kept);
    }
    tx.set_setting(Setting::MasterKeyFingerprint, keys.fingerprint())?;
    Ok(keys.fingerprint().to_owned())
}
