//! `guerdon company export`.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{BufWriter, Seek as _, SeekFrom};
use std::path::{Path, PathBuf, absolute};
use std::thread::sleep; // tidy: waits for transactions of other processes
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use guerdon_domain::companies::{CompanyMove, HandOverError, hand_over, record_archive};
use guerdon_domain::ports::{
    ArchiveSection, Clock as _, ReadTx, Setting, Store, StoreError, StoreExt, Timestamp,
};
use guerdon_domain::sealing::{SealOutcome, seal_until};
use guerdon_domain::values::{CompanyId, ProviderId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::{CompanyArgument, load_company};
use crate::commands::error::impl_from_errors;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::company_archive::{ArchiveHeader, ArchiveWriter, SealHeader};
use crate::maintenance::sealing::{describe_seal_delay, new_pacer};
use crate::platform::build_info::VERSION;
use crate::platform::{SystemClock, files, random};
use crate::terminal::Progress;

/// How often, and for how long, a seal is tried while transactions that began earlier are in progress.
const SEAL_INTERVAL: Duration = Duration::from_millis(100);
const SEAL_TIME_MAX: Duration = Duration::from_secs(30);
/// How to reopen a company whose archive exists and may be imported.
const REOPEN_WITH_ARCHIVE: &str = "; or keep it in this cell: an archive of this hand-over exists, and `guerdon company \
    import FILE --refuse` in the target cell prints the release code";

/// Write a company and everything that belongs to it to a file.
///
/// Without --hand-over, the company stays open, and the file is an archive that cannot be imported. With --hand-over,
/// the company is closed in this cell, and `guerdon company import` opens it in another one.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon company export acme.example --to NEW_FILE
  guerdon company export moved.example --hand-over --to OTHER_NEW_FILE")]
pub(crate) struct Export {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    /// The file to create, with mode 0600. A running service that holds the embedded database writes it itself
    #[arg(long, value_name = "FILE", value_parser = absolute_path)]
    to: PathBuf,
    /// Close the company here, so that another cell can import the file. Repeating the command after it succeeded
    /// writes a file with the same hand-over token
    #[arg(long)]
    hand_over: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// Makes a path absolute, because the command may run in a service with another working directory.
pub(super) fn absolute_path(name: &str) -> Result<PathBuf, Infallible> {
    Ok(absolute(name).unwrap_or_else(|_cause| PathBuf::from(name)))
}

#[derive(Serialize)]
struct ExportView {
    company_id: Uuid,
    file: String,
    bytes: u64,
    /// The hand-over token; `None` if the archive cannot be imported.
    token: Option<Uuid>,
    #[serde(skip)]
    domain: String,
}

impl CommandView for ExportView {
    fn to_text(&self) -> String {
        let next = match self.token {
            None => "The company stays open here, and the file cannot be imported.".to_owned(),
            Some(token) => format!(
                "The company is closed here. Import the file in exactly one other cell with `guerdon company import`, then \
                 change the router's map. Hand-over token: {token}"
            ),
        };
        format!("wrote company {} to {}, {} bytes.\n{next}", self.domain, self.file, self.bytes)
    }
}

impl RunnableCommand for Export {
    fn may_take_long(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company_id.find_company(environment)?;
        if self.to.is_dir() {
            return Err(CommandError::Refused(format!("{} is a directory: name a file", self.to.display())));
        }
        if !self.force && self.to.symlink_metadata().is_ok() {
            return Err(CommandError::Refused(format!("{} already exists", self.to.display())));
        }
        let mut closed = None;
        let written = write_file(&self.to, self.force, |file| {
            // The company is closed only when the file exists and no unfinished distribution delays the seal.
            if self.hand_over && company.handed_over_at.is_none() {
                wait_for_distributions_of_others(environment, company.id)?;
            }
            closed = self.hand_over.then(|| close_company(environment, company.id)).transpose()?;
            seal_company(environment, company.id)?;
            write_archive(environment, company.id, closed.as_ref(), file)?;
            if let Some(outgoing) = &closed {
                environment.store.transaction(|tx| record_archive(tx, outgoing, &environment.context()))?;
            }
            Ok(())
        });
        let bytes = written.map_err(|cause| match (&closed, cause) {
            (Some(outgoing), cause) => explain_failure(environment, outgoing, cause),
            (None, CommandError::Store(cause @ StoreError::OutcomeUnknown(_))) if self.hand_over => {
                CommandError::Failed(format!("{cause}; the company may be closed: repeat the command"))
            }
            (None, cause) => cause,
        })?;
        let view = ExportView {
            company_id: company.id.as_uuid(),
            file: self.to.display().to_string(),
            bytes,
            token: closed.map(|outgoing| outgoing.token),
            domain: company.domain.as_str().to_owned(),
        };
        view.to_output()
    }
}

/// Adds to an error what to do with the closed company. The release code is shown only while no archive of the
/// hand-over exists, because another cell could import an archive. The next export replaces the code.
fn explain_failure(
    environment: &CommandEnvironment,
    outgoing: &CompanyMove,
    cause: CommandError,
) -> CommandError {
    let id = outgoing.company_id;
    let latest = environment.store.read_snapshot(|reads| reads.find_latest_hand_over(id));
    let latest = latest.ok().map(|latest| latest.filter(|latest| latest.completed_at.is_none()));
    let reopening = match (latest, &outgoing.release_code) {
        (Some(None), _) => return cause, // another command has reopened the company
        (Some(Some(open)), _) if open.archived_at.is_some() => REOPEN_WITH_ARCHIVE.to_owned(),
        (Some(Some(open)), Some(code)) if open.token == outgoing.token => {
            format!("; or reopen it with `guerdon company reopen {id} --code {code}`")
        }
        _ => String::new(),
    };
    CommandError::Failed(format!(
        "{cause}; the company is closed in this cell: repeat the command{reopening}"
    ))
}

fn close_company(environment: &CommandEnvironment, id: CompanyId) -> Result<CompanyMove, CommandError> {
    let context = environment.context();
    let token = context.ids.next_id();
    let release_code = random::generate_name("rel_")?;
    environment.store.long_transaction(|tx| -> Result<CompanyMove, CommandError> {
        Ok(hand_over(tx, id, token, &release_code, &context)?)
    })
}

/// Seals until no unsealed entry of the company is preceded by an unfinished distribution of another company, because
/// later entries cannot be sealed before that distribution is finished.
fn wait_for_distributions_of_others(
    environment: &CommandEnvironment,
    id: CompanyId,
) -> Result<(), CommandError> {
    let is_of_another =
        |owner: &Option<(CompanyId, ProviderId)>| owner.is_some_and(|(company, _provider)| company != id);
    let is_delayed = |store: &dyn Store| {
        let unfinished = store.read_snapshot(|reads| reads.unfinished_distributions())?;
        Ok::<_, StoreError>(unfinished.distributions.iter().any(|(_id, owner)| is_of_another(owner)))
    };
    let end = environment.store.read_snapshot(|reads| reads.ledger_end())?;
    retry_until_sealable(environment.store.as_ref(), |store| {
        if !is_delayed(store)? {
            return Ok(true);
        }
        seal_until(store, end, SystemClock.now(), &mut new_pacer())?;
        store.read_snapshot(|reads| reads.is_company_sealed(id))
    })
}

/// Seals until a seal covers all journal entries of the company that are committed now. Transactions that began earlier
/// delay the seal.
fn seal_company(environment: &CommandEnvironment, id: CompanyId) -> Result<(), CommandError> {
    let end = environment.store.read_snapshot(|reads| reads.ledger_end())?;
    retry_until_sealable(environment.store.as_ref(), |store| {
        let outcome = seal_until(store, end, SystemClock.now(), &mut new_pacer())?;
        let is_complete = matches!(outcome, SealOutcome::Complete(_));
        Ok(is_complete || store.read_snapshot(|reads| reads.is_company_sealed(id))?)
    })
}

/// Calls `attempt` every 100 ms until it returns true. After 30 s, fails with an error that says what delays the seal.
fn retry_until_sealable(
    store: &dyn Store,
    attempt: impl Fn(&dyn Store) -> Result<bool, StoreError>,
) -> Result<(), CommandError> {
    let start = Instant::now();
    while start.elapsed() < SEAL_TIME_MAX {
        if attempt(store)? {
            return Ok(());
        }
        sleep(SEAL_INTERVAL);
    }
    Err(CommandError::Failed(store.read_snapshot(describe_seal_delay)?))
}

/// Writes to `<path>.partial`, and renames it when it is complete and synced. Returns the size in bytes. Refuses if
/// another process is writing the file, or if it exists and `replaces` is false.
fn write_file(
    path: &Path,
    replaces: bool,
    write: impl FnOnce(&File) -> Result<(), CommandError>,
) -> Result<u64, CommandError> {
    let partial = files::with_suffix(path, ".partial");
    let failed =
        |cause: std::io::Error| CommandError::Failed(format!("cannot write {}: {cause}", path.display()));
    let Some(file) = files::create_locked(&partial).map_err(failed)? else {
        return Err(CommandError::Refused(format!("another process is writing {}", path.display())));
    };
    let written = write(&file).and_then(|()| {
        file.sync_all().map_err(failed)?;
        let moved = if replaces {
            files::move_over_name(&partial, path).map(|()| true)
        } else {
            files::move_to_new_name(&partial, path)
        };
        match moved {
            Ok(true) => file.metadata().map(|metadata| metadata.len()).map_err(failed),
            Ok(false) => Err(CommandError::Refused(format!("{} already exists", path.display()))),
            Err(cause) => Err(cause.into()),
        }
    });
    let _gone = fs::remove_file(&partial);
    written
}

fn write_archive(
    environment: &CommandEnvironment,
    id: CompanyId,
    outgoing: Option<&CompanyMove>,
    mut file: &File,
) -> Result<(), CommandError> {
    let now = SystemClock.now();
    let failed = |cause: std::io::Error| CommandError::Failed(format!("cannot write the archive: {cause}"));
    environment.store.read_snapshot(|reads| -> Result<(), CommandError> {
        file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(failed)?;
        let rows = reads.estimate_archived_rows(id)?; // first, so that no events are deleted after the header was read
        let header = build_header(reads, id, outgoing, now)?;
        environment.progress.show_rows(usize::try_from(rows).unwrap_or(0));
        let mut writer = ArchiveWriter::start(BufWriter::new(file), &header).map_err(failed)?;
        for section in ArchiveSection::ALL {
            writer.start_section(*section).map_err(failed)?;
            let columns = reads.archived_columns(*section);
            let mut after = None;
            loop {
                let rows_max = rows_per_page(*section);
                let page = reads.read_archive_page(id, *section, after.as_ref(), rows_max, now)?;
                writer.write_rows(&columns, &page.rows).map_err(failed)?;
                advance_progress(&environment.progress, *section, page.rows.len());
                match page.next {
                    None => break,
                    next => after = next,
                }
            }
            writer.end_section(*section).map_err(failed)?;
        }
        writer.finish().map_err(failed)
    })
}

/// The number of rows that are read together. An event can be 1 MB, a stored response about 20 MB.
const fn rows_per_page(section: ArchiveSection) -> i64 {
    match section {
        ArchiveSection::IdempotencyRecords => 1,
        ArchiveSection::Events => 64,
        _ => 1_000,
    }
}

/// Counts the rows that the estimate covers.
fn advance_progress(progress: &Progress, section: ArchiveSection, rows: usize) {
    if matches!(section, ArchiveSection::Users | ArchiveSection::JournalEntries | ArchiveSection::Transfers) {
        progress.advance_by(rows);
    }
}

fn build_header(
    reads: &mut dyn ReadTx,
    id: CompanyId,
    outgoing: Option<&CompanyMove>,
    now: Timestamp,
) -> Result<ArchiveHeader, CommandError> {
    let company = load_company(reads, id)?;
    let pruned = reads.get_setting(Setting::EventsPrunedBefore)?;
    let pruned = pruned.and_then(|value| value.parse().ok()).and_then(Timestamp::from_unix_micros);
    let seal = reads.last_seal()?;
    let seal = seal.map(|seal| SealHeader { sequence: seal.sequence, head: HEXLOWER.encode(&seal.head) });
    let header = ArchiveHeader::new(VERSION, (id, &company.domain), now, pruned, seal);
    Ok(match outgoing {
        None => header,
        Some(outgoing) if company.handed_over_at.is_some() => {
            header.with_hand_over(outgoing.token, outgoing.release_code.clone())
        }
        Some(_) => return Err(CommandError::refused("the company was reopened: nothing was exported")),
    })
}

impl_from_errors!(HandOverError);
