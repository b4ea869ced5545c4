//! `guerdon config check`: checks that the settings are valid. With `--connect`, also checks that the database, the
//! mail server and the files that the settings name can be used.

use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use guerdon_domain::ports::{Clock as _, Setting};
use guerdon_persistence::{Access, OpenError, open, read_stored_setting};
use serde::Serialize;
use time::OffsetDateTime;

use crate::command_socket::is_service_listening;
use crate::commands::{CommandOutput, CommandView};
use crate::keys::{check_master_key, require_master_key};
use crate::platform::{SystemClock, files, random};
use crate::settings::Settings;
use crate::tls;
use crate::transports::{build_mail_transport, check_event_sender, describe_mail_destination};

/// The result of the check.
#[derive(Serialize)]
struct ConfigCheckView {
    ok: bool,
    /// The outcome of each check of `--connect`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<String>,
}

impl CommandView for ConfigCheckView {
    fn to_text(&self) -> String {
        let lines = self.checks.iter().map(|line| format!("{line}\n")).collect::<String>();
        format!("{lines}the settings are valid")
    }
}

pub(crate) fn check_config(settings: &Settings, connects: bool) -> Result<CommandOutput> {
    let certificate = tls::check_certificate(settings)?;
    require_master_key(settings)?;
    check_event_sender(settings)?;
    if settings.mail.smtp_url.is_some() {
        build_mail_transport(settings)?;
    }
    let checks = if connects { check_connections(settings, certificate)? } else { Vec::new() };
    Ok(ConfigCheckView { ok: true, checks }.to_output()?)
}

/// Checks everything that the settings refer to. If there are faults, fails with an error that lists all of them.
fn check_connections(settings: &Settings, certificate: Option<OffsetDateTime>) -> Result<Vec<String>> {
    let results = [
        check_folder(settings),
        check_database(settings),
        check_mail(settings),
        check_certificate_expiry(certificate),
    ];
    let (mut checks, mut faults) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(line) => checks.push(line),
            Err(cause) => faults.push(format!("{cause:#}")),
        }
    }
    if faults.is_empty() { Ok(checks) } else { Err(anyhow!("{}", faults.join("; "))) }
}

/// Checks that the configured certificate has not expired.
fn check_certificate_expiry(certificate: Option<OffsetDateTime>) -> Result<String> {
    match certificate {
        None => Ok("certificate: none configured".to_owned()),
        Some(end) if end <= SystemClock.now().to_utc() => bail!("certificate: expired on {}", end.date()),
        Some(end) => Ok(format!("certificate: expires on {}", end.date())),
    }
}

/// Checks that files can be created in the data folder.
fn check_folder(settings: &Settings) -> Result<String> {
    let folder = &settings.data_dir;
    let shown = folder.display();
    if !folder.try_exists().with_context(|| format!("cannot access {shown}"))? {
        return Ok(format!("data folder: {shown} does not exist yet; `guerdon serve` creates it"));
    }
    files::require_own_folder(folder)?;
    let file = folder.join(random::generate_name(".check-")?);
    files::create_new_file(&file).with_context(|| format!("cannot write to {shown}"))?;
    fs::remove_file(&file).with_context(|| format!("cannot delete files in {shown}"))?;
    Ok(format!("data folder: {shown} is writable"))
}

/// Compares the master key with the database, and describes the result.
fn describe_master_key(settings: &Settings) -> Result<&'static str> {
    let fingerprint = read_stored_setting(&settings.database, Setting::MasterKeyFingerprint);
    let matches = check_master_key(settings, fingerprint.as_deref()).context("database")?;
    Ok(if matches {
        "and the master key matches"
    } else {
        "and has no master key yet; `guerdon serve` creates it"
    })
}

/// Checks that the database is available and was created with this master key.
fn check_database(settings: &Settings) -> Result<String> {
    let shown = settings.masked_database_url();
    match open(&settings.database, Access::Command) {
        Ok(_store) => Ok(format!("database: {shown} is available, {}", describe_master_key(settings)?)),
        Err(OpenError::Locked(_)) if is_service_listening(&settings.data_dir) => {
            let key = describe_master_key(settings)?;
            Ok(format!("database: {shown} is in use by the running `guerdon serve`, {key}"))
        }
        Err(OpenError::Missing(_)) => {
            Ok(format!("database: {shown} does not exist yet; `guerdon serve` creates it"))
        }
        Err(OpenError::Restored) if settings.migrate => Ok(format!(
            "database: {shown} was restored from a dump of another server; `guerdon serve` migrates it"
        )),
        Err(OpenError::Older) if settings.migrate => {
            Ok(format!("database: {shown} is older than this program; `guerdon serve` migrates it"))
        }
        Err(cause) => bail!("database: {cause}"),
    }
}

/// Checks that the mail server accepts the connection and the credentials.
fn check_mail(settings: &Settings) -> Result<String> {
    let destination = describe_mail_destination(settings);
    if settings.mail.smtp_url.is_none() {
        return Ok(format!("mail: {destination}"));
    }
    build_mail_transport(settings)?.check_connection().map_err(|cause| anyhow!("mail server: {cause}"))?;
    Ok(format!("mail: {destination}, which accepts the connection"))
}
