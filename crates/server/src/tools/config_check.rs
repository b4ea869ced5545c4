//! `guerdon config check`: checks that the settings are valid, and with `--connect` that the database, the mail server
//! and the files that they name can be used.

use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use guerdon_domain::ports::{Clock as _, Setting};
use guerdon_persistence::{Access, OpenError, kept_setting, open};
use serde::Serialize;
use time::OffsetDateTime;

use crate::command_socket::is_served;
use crate::commands::{Output, View};
use crate::keys::{check_master_key, require_master_key};
use crate::platform::{SystemClock, files, random};
use crate::settings::Settings;
use crate::tls;
use crate::transports::{build_mail_transport, describe_mail_destination, read_webhook_roots};

/// The result of the check.
#[derive(Serialize)]
struct Checked {
    ok: bool,
    /// The outcome of each connection that was tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tried: Vec<String>,
}

impl View for Checked {
    fn text(&self) -> String {
        let lines = self.tried.iter().map(|line| format!("{line}\n")).collect::<String>();
        format!("{lines}the settings are valid")
    }
}

pub(crate) fn check_config(settings: &Settings, connects: bool) -> Result<Output> {
    let certificate = tls::check(settings)?;
    require_master_key(settings)?;
    read_webhook_roots(settings)?;
    let tried = if connects { try_all(settings, certificate)? } else { Vec::new() };
    Ok(Checked { ok: true, tried }.output()?)
}

/// Tries everything that the settings refer to. Fails with all faults, if there are any.
fn try_all(settings: &Settings, certificate: Option<OffsetDateTime>) -> Result<Vec<String>> {
    let all = [try_folder(settings), try_database(settings), try_mail(settings), check_end(certificate)];
    let (mut tried, mut faults) = (Vec::new(), Vec::new());
    for result in all {
        match result {
            Ok(line) => tried.push(line),
            Err(cause) => faults.push(format!("{cause:#}")),
        }
    }
    if faults.is_empty() { Ok(tried) } else { Err(anyhow!("{}", faults.join("; "))) }
}

/// Checks that the configured certificate has not expired.
fn check_end(certificate: Option<OffsetDateTime>) -> Result<String> {
    match certificate {
        None => Ok("certificate: none configured".to_owned()),
        Some(end) if end <= SystemClock.now().utc() => bail!("certificate: expired on {}", end.date()),
        Some(end) => Ok(format!("certificate: expires on {}", end.date())),
    }
}

/// Checks that files can be created in the data folder.
fn try_folder(settings: &Settings) -> Result<String> {
    let folder = &settings.data_dir;
    let shown = folder.display();
    if !folder.try_exists().with_context(|| format!("cannot access {shown}"))? {
        return Ok(format!("data folder: {shown} does not exist yet, `guerdon serve` creates it"));
    }
    files::require_own_folder(folder)?;
    let file = folder.join(random::name(".check-")?);
    files::create_new(&file).with_context(|| format!("cannot write to {shown}"))?;
    fs::remove_file(&file).with_context(|| format!("cannot delete files in {shown}"))?;
    Ok(format!("data folder: {shown} is writable"))
}

/// Checks that the database is available and was created with this master key.
fn try_database(settings: &Settings) -> Result<String> {
    let shown = settings.shown_database();
    match open(&settings.database, Access::Command) {
        Ok(_store) => {
            let kept = kept_setting(&settings.database, Setting::MasterKeyFingerprint);
            let key = if check_master_key(settings, kept.as_deref())? {
                "and the master key matches"
            } else {
                "and has no master key yet: `guerdon serve` sets it"
            };
            Ok(format!("database: {shown} is available, {key}"))
        }
        Err(OpenError::Locked(_)) if is_served(&settings.data_dir) => {
            let kept = kept_setting(&settings.database, Setting::MasterKeyFingerprint);
            check_master_key(settings, kept.as_deref()).context("database")?;
            Ok(format!("database: {shown} is in use by the running guerdon, and the master key matches"))
        }
        Err(OpenError::Missing(_)) => {
            Ok(format!("database: {shown} does not exist yet, `guerdon serve` creates it"))
        }
        Err(OpenError::Restored) if settings.migrate => Ok(format!(
            "database: {shown} was restored from a dump of another server, `guerdon serve` migrates it"
        )),
        Err(OpenError::Older) if settings.migrate => {
            Ok(format!("database: {shown} is older than this program, `guerdon serve` migrates it"))
        }
        Err(cause) => bail!("database: {cause}"),
    }
}

/// Checks that the mail server accepts the connection and the credentials.
fn try_mail(settings: &Settings) -> Result<String> {
    let way = describe_mail_destination(settings);
    if settings.mail.smtp_url.is_none() {
        return Ok(format!("mail: {way}"));
    }
    build_mail_transport(settings)?.check().map_err(|cause| anyhow!("mail server: {cause}"))?;
    Ok(format!("mail: {way}, which accepts the connection"))
}
