//! Finds the master key, and checks that the database was created with it.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use data_encoding::HEXLOWER;
use guerdon_domain::ports::{Setting, Store, StoreError, StoreExt, Tx};
use zeroize::Zeroizing;

use super::Keys;
use crate::platform::{files, random};
use crate::settings::{MasterKey, Settings};

/// The name of the master key's file in the data folder.
pub(crate) const MASTER_KEY_FILE: &str = "master.key";

/// Derives the keys from the configured master key. Without one, the embedded database uses the master key in the data
/// folder, which is created for a new database. Fails if the database was created with another master key.
pub(crate) fn open_or_create_keys(settings: &Settings, store: &dyn Store) -> anyhow::Result<Keys> {
    require_master_key(settings)?;
    let master = match read_configured_key(settings)? {
        Some(key) => key,
        None => read_or_create_key(&settings.data_dir.join(MASTER_KEY_FILE), store)?,
    };
    let keys = Keys::derive(&master)?;
    store_or_compare_fingerprint(store, &keys)?;
    Ok(keys)
}

/// Derives the keys for a command that only reads, without creating or storing anything. Fails if there is no master
/// key, or if the database was created with another one.
pub(crate) fn open_existing_keys(settings: &Settings, store: &dyn Store) -> anyhow::Result<Keys> {
    require_master_key(settings)?;
    let master = match read_configured_key(settings)? {
        Some(key) => key,
        None => match read_data_folder_key(&settings.data_dir)? {
            Some(key) => key,
            None if stored_fingerprint(store)?.is_some() => {
                return Err(lost_key_error(&settings.data_dir.join(MASTER_KEY_FILE)));
            }
            None => bail!(
                "no master key exists yet: `guerdon serve`, or the first command that changes something, creates it"
            ),
        },
    };
    let keys = Keys::derive(&master)?;
    if let Some(stored) = stored_fingerprint(store)? {
        compare_fingerprints(keys.fingerprint(), &stored)?;
    }
    Ok(keys)
}

/// Fails if the settings name no master key and the database is PostgreSQL, because each machine could have a different
/// key in its data folder.
pub(crate) fn require_master_key(settings: &Settings) -> anyhow::Result<()> {
    if read_configured_key(settings)?.is_none() && settings.embedded_database().is_none() {
        bail!(
            "master_key or master_key_file must be set for PostgreSQL: 64 hex digits, the same for every \
             process"
        )
    }
    Ok(())
}

/// Reads the master key from the settings or from the file that they name; `None` if they name neither.
fn read_configured_key(settings: &Settings) -> anyhow::Result<Option<MasterKey>> {
    match &settings.master_key_file {
        Some(_) if settings.master_key.is_some() => {
            bail!("master_key and master_key_file are both set: keep one")
        }
        Some(file) => read_file(file).context("master_key_file").map(Some),
        None => Ok(settings.master_key.clone()),
    }
}

/// Reads the master key of this machine from the settings, from the file that they name, or from the data folder;
/// `None` if no key exists.
pub(crate) fn find_master_key(settings: &Settings) -> anyhow::Result<Option<MasterKey>> {
    match read_configured_key(settings)? {
        Some(key) => Ok(Some(key)),
        None => read_data_folder_key(&settings.data_dir),
    }
}

/// Reads the master key from a data folder; `None` if there is no file.
fn read_data_folder_key(data_dir: &Path) -> anyhow::Result<Option<MasterKey>> {
    let path = data_dir.join(MASTER_KEY_FILE);
    let exists = path.try_exists();
    let exists = exists.with_context(|| format!("cannot look for the master key in {}", path.display()))?;
    exists.then(|| read_file(&path)).transpose()
}

fn read_or_create_key(path: &Path, store: &dyn Store) -> anyhow::Result<MasterKey> {
    let exists = path.try_exists();
    if !exists.with_context(|| format!("cannot look for the master key in {}", path.display()))? {
        if stored_fingerprint(store)?.is_some() {
            return Err(lost_key_error(path));
        }
        let bytes = Zeroizing::new(random::generate_bytes::<32>()?);
        let text = Zeroizing::new(format!("{}\n", HEXLOWER.encode(bytes.as_slice())));
        files::ensure_private_folder(path.parent().unwrap_or(path))?;
        // If another process has created the file first, its key is read below.
        files::create_private_file(path, text.as_bytes())?;
    }
    read_file(path)
}

fn lost_key_error(path: &Path) -> anyhow::Error {
    anyhow!(
        "the master key in {} is missing, and the secrets of this database cannot be read without it: restore it from \
         its backup",
        path.display()
    )
}

fn read_file(path: &Path) -> anyhow::Result<MasterKey> {
    let text = files::read_small_text(path)
        .with_context(|| format!("cannot read the master key in {}", path.display()))?;
    match MasterKey::parse(&text) {
        Ok(key) => Ok(key),
        Err(_) => bail!("{} does not contain a master key of 64 hex digits", path.display()),
    }
}

fn stored_fingerprint(store: &dyn Store) -> Result<Option<String>, StoreError> {
    store.read_snapshot(|reads| reads.get_setting(Setting::MasterKeyFingerprint))
}

/// Checks that the master key of this machine has the stored fingerprint. Returns `false` if the database stores no
/// fingerprint yet. Fails if the key has another fingerprint or is missing.
pub(crate) fn check_master_key(settings: &Settings, stored: Option<&str>) -> anyhow::Result<bool> {
    require_matching_master_key(settings, stored)?;
    if stored.is_some() && find_master_key(settings)?.is_none() {
        bail!(
            "the database was created with a master key, but none is configured: set master_key or master_key_file"
        );
    }
    Ok(stored.is_some())
}

/// Fails if the fingerprint of this machine's master key differs from the stored one. Succeeds if either is missing.
pub(crate) fn require_matching_master_key(settings: &Settings, stored: Option<&str>) -> anyhow::Result<()> {
    match (find_master_key(settings)?, stored) {
        (Some(key), Some(stored)) => compare_fingerprints(&key.fingerprint(), stored),
        _ => Ok(()),
    }
}

/// Stores the fingerprint of the key on first use; fails if another one is stored.
fn store_or_compare_fingerprint(store: &dyn Store, keys: &Keys) -> anyhow::Result<()> {
    let stored = match stored_fingerprint(store)? {
        Some(stored) => stored,
        None => store.transaction(|tx| store_fingerprint(tx, keys))?,
    };
    compare_fingerprints(keys.fingerprint(), &stored)
}

fn compare_fingerprints(found: &str, stored: &str) -> anyhow::Result<()> {
    if stored != found {
        bail!(
            "this master key (fingerprint {found}) is not the one this database was created with \
             (fingerprint {stored}): restore the key with the second fingerprint (master_key, \
             master_key_file, or master.key in the data folder)"
        );
    }
    Ok(())
}

/// Stores the fingerprint unless another process has stored one, and returns the stored fingerprint.
fn store_fingerprint(tx: &mut dyn Tx, keys: &Keys) -> Result<String, StoreError> {
    if let Some(stored) = tx.get_setting(Setting::MasterKeyFingerprint)? {
        return Ok(stored);
    }
    tx.set_setting(Setting::MasterKeyFingerprint, keys.fingerprint())?;
    Ok(keys.fingerprint().to_owned())
}
