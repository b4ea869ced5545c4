//! `guerdon import users`.

mod csv_records;
mod import_file;
mod line_numbers;
mod record;
mod report;
mod row;

use anyhow::Context as _;
use guerdon_domain::ports::{StoreError, StoreExt, Tx};
use guerdon_domain::users::{self, ImportStage};
use guerdon_domain::values::{CompanyId, ProviderId};
use serde::{Deserialize, Serialize};

use self::import_file::{FileFormat, ImportFile, read_import_file};
use self::report::{ImportCounts, ImportReport};
use super::arguments::identifiers::CompanyArgument;
use super::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};
use crate::terminal::Progress;

#[cfg(feature = "testing")]
pub(crate) use self::import_file::{FileFormat as ImportFormat, read_whole_and_in_parts};
pub(super) use self::row::ImportRow;

/// The number of rows per transaction on the embedded database. It is so small that other writers, which wait for the
/// transaction, do not wait long.
const ROWS_PER_EMBEDDED_TRANSACTION: usize = 100;
/// The number of rows per transaction on PostgreSQL, where other writers do not wait. It is larger, because each commit
/// waits for the disk.
const ROWS_PER_POSTGRES_TRANSACTION: usize = 500;
/// The number of rows per request to a running service, which should not hold the whole file in memory.
const ROWS_PER_REQUEST: usize = 500;

/// Create or update a company's users from a file. A row matches the user with its `employee_id`, or else with its
/// `email`; if no user matches, a user is created. Missing fields and empty cells leave a value unchanged; null in JSON
/// clears it. Importing a file again changes nothing.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Users {
    /// The file: CSV with a header line, separated by commas, semicolons or tabs, or a JSON object on each line
    #[arg(value_name = "FILE", value_parser = read_import_file)]
    file: Result<ImportFile, String>,
    /// The company: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: CompanyArgument,
    /// Import all rows or none; on the embedded database, other writers wait until the import ends
    #[arg(long)]
    atomic: bool,
    /// The format of the file. Default: csv if its name ends in .csv, jsonl if it ends in .jsonl
    #[arg(long, value_enum)]
    format: Option<FileFormat>,
    /// The place of these rows in the whole file, if they are a part of it.
    #[arg(skip)]
    part: Option<FilePart>,
}

/// The place of rows in a file that is imported in parts.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct FilePart {
    /// The outcomes of the rows before this part.
    earlier: ImportCounts,
    /// The number of rows in the whole file.
    rows_in_file: usize,
}

impl Users {
    /// Imports the rows through a running service. Sends several requests, because the service should not hold a large
    /// file in memory. Returns the combined result.
    pub(crate) fn import_in_requests(
        &self,
        progress: &Progress,
        mut request: impl FnMut(Self) -> anyhow::Result<CommandOutput>,
    ) -> anyhow::Result<CommandOutput> {
        let (file, format) = self.require_file()?;
        let starts = file.find_rows(format).map_err(CommandError::refused)?;
        if self.atomic || starts.len() <= ROWS_PER_REQUEST {
            return request(self.clone());
        }
        progress.show_rows(starts.len());
        let mut report = ImportReport::default();
        for first in (0..starts.len()).step_by(ROWS_PER_REQUEST) {
            let rows = first..starts.len().min(first + ROWS_PER_REQUEST);
            let count = rows.len();
            let part = FilePart { earlier: report.counts, rows_in_file: starts.len() };
            match request(self.with_part(file.with_rows(&starts, rows), part)) {
                Ok(done) => {
                    let counts: ImportCounts =
                        serde_json::from_str(&done.json).context("cannot read the result")?;
                    report.add_report(ImportReport { counts, notes: done.notes });
                    if counts.total_rows() < count {
                        return Ok(CommandOutput { status: 1, ..report.into_output()? }); // the notes contain the reason
                    }
                }
                Err(cause) if first == 0 => return Err(cause),
                Err(cause) => {
                    let line = starts.get(first).map_or(0, |start| start.line);
                    return Ok(report.into_stopped_output(line, format!("{cause:#}"))?);
                }
            }
            progress.advance_by(count);
        }
        Ok(report.into_output()?)
    }

    fn require_file(&self) -> Result<(&ImportFile, FileFormat), CommandError> {
        let file = self.file.as_ref().map_err(CommandError::refused)?;
        let format = self.format.map_or_else(|| file.format_by_extension(), Ok);
        Ok((file, format.map_err(CommandError::refused)?))
    }

    /// Returns this command for a part of its file.
    fn with_part(&self, file: ImportFile, part: FilePart) -> Self {
        let company = self.company.clone();
        Self { file: Ok(file), company, atomic: self.atomic, format: self.format, part: Some(part) }
    }

    /// Imports the rows in several transactions.
    fn import_in_transactions(
        mut rows: impl Iterator<Item = ImportRow>,
        company_scope: (ProviderId, CompanyId),
        part: FilePart,
        environment: &CommandEnvironment,
    ) -> Result<CommandOutput, CommandError> {
        let size = match environment.settings.embedded_database() {
            Some(_) => ROWS_PER_EMBEDDED_TRANSACTION,
            None => ROWS_PER_POSTGRES_TRANSACTION,
        };
        let mut report = ImportReport::default();
        loop {
            let batch: Vec<ImportRow> = rows.by_ref().take(size).collect();
            let Some(first) = batch.first() else { return report.into_output() };
            let earlier = part.earlier.plus(report.counts);
            let result = environment.store.transaction(|tx| {
                let done = import_batch(tx, company_scope, &batch, environment)?;
                let counts = (earlier, earlier.plus(done.counts));
                record_stage(tx, company_scope, counts, part.rows_in_file, environment)?;
                Ok::<_, CommandError>(done)
            });
            match result {
                Ok(done) => report.add_report(done),
                Err(cause) if report.counts.total_rows() == 0 => return Err(cause),
                Err(cause) => return report.into_stopped_output(first.line, cause),
            }
            environment.progress.advance_by(batch.len());
        }
    }

    /// Imports all rows in one transaction.
    fn import_atomically(
        (file, format): (&ImportFile, FileFormat),
        company_scope: (ProviderId, CompanyId),
        environment: &CommandEnvironment,
    ) -> Result<CommandOutput, CommandError> {
        let done = environment.store.long_transaction(|tx| {
            let mut rows = file.rows(format).map_err(CommandError::refused)?;
            let mut report = ImportReport::default();
            loop {
                let batch: Vec<ImportRow> = rows.by_ref().take(ROWS_PER_EMBEDDED_TRANSACTION).collect();
                if batch.is_empty() {
                    break;
                }
                report.add_report(import_batch(tx, company_scope, &batch, environment)?);
            }
            let counts = (ImportCounts::default(), report.counts);
            record_stage(tx, company_scope, counts, report.counts.total_rows(), environment)?;
            if report.counts.refused > 0 { Err(AtomicImportError::Refused(report)) } else { Ok(report) }
        });
        match done {
            Ok(report) => report.into_output(),
            Err(AtomicImportError::Failed(cause)) => Err(cause),
            Err(AtomicImportError::Refused(report)) => {
                let refused = report.counts.refused;
                ImportReport { counts: ImportCounts { refused, ..ImportCounts::default() }, ..report }
                    .into_output()
            }
        }
    }
}

/// Why an atomic import was rolled back.
enum AtomicImportError {
    Refused(ImportReport),
    Failed(CommandError),
}

impl<E: Into<CommandError>> From<E> for AtomicImportError {
    fn from(cause: E) -> Self {
        Self::Failed(cause.into())
    }
}

impl RunnableCommand for Users {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company.find_company(environment)?;
        let company_scope = (company.provider_id, company.id);
        let (file, format) = self.require_file()?;
        if self.atomic {
            return Self::import_atomically((file, format), company_scope, environment);
        }
        let rows_in_file = file.find_rows(format).map_err(CommandError::refused)?.len();
        environment.progress.show_rows(rows_in_file);
        let rows = file.rows(format).map_err(CommandError::refused)?;
        let part = self.part.unwrap_or(FilePart { earlier: ImportCounts::default(), rows_in_file });
        Self::import_in_transactions(rows, company_scope, part, environment)
    }

    fn may_take_long(&self) -> bool {
        true
    }

    fn is_logged(&self) -> bool {
        self.part.is_none_or(|part| part.earlier.total_rows() == 0)
    }
}

/// Writes an audit entry if the import starts or ends with this batch. `before` and `after` count the rows of the file
/// until the batch and with it. An import that is done in one batch and changes nothing has no entry.
fn record_stage(
    tx: &mut dyn Tx,
    company_scope: (ProviderId, CompanyId),
    (before, after): (ImportCounts, ImportCounts),
    rows_in_file: usize,
    environment: &CommandEnvironment,
) -> Result<(), StoreError> {
    let ImportCounts { created, updated, .. } = after;
    let stage = match (before.total_rows() == 0, after.total_rows() == rows_in_file) {
        (true, false) => ImportStage::Started { records: rows_in_file },
        (is_first, true) if !is_first || created + updated > 0 => ImportStage::Ended { created, updated },
        _ => return Ok(()),
    };
    users::record_import(tx, company_scope, stage, &environment.context())
}

fn import_batch(
    tx: &mut dyn Tx,
    company_scope: (ProviderId, CompanyId),
    rows: &[ImportRow],
    environment: &CommandEnvironment,
) -> Result<ImportReport, CommandError> {
    let mut report = ImportReport::default();
    for (row, outcome) in
        rows.iter().zip(users::import_users(tx, company_scope, rows, &environment.context())?)
    {
        report.add_outcome(row.line, outcome);
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    fn import_command(rows: usize) -> Users {
        let file = ImportFile::with_text("people.csv", format!("email\n{}", "a@a.example\n".repeat(rows)));
        let company = "acme.example".parse().unwrap();
        Users { file: Ok(file), company, atomic: false, format: None, part: None }
    }

    fn refused_output(count: usize) -> anyhow::Result<CommandOutput> {
        let counts = ImportCounts { refused: count, ..ImportCounts::default() };
        Ok(ImportReport { counts, notes: vec!["x".to_owned()] }.into_output()?)
    }

    #[test]
    fn a_failure_midway_still_reports_the_imported_rows() {
        let all = import_command(3 * ROWS_PER_REQUEST);
        let mut left = 1;
        let output = all.import_in_requests(&Progress::default(), |_part| match left {
            0 => Err(anyhow!("gone")),
            _ => {
                left -= 1;
                refused_output(ROWS_PER_REQUEST)
            }
        });
        let output = output.unwrap();
        assert_eq!((output.status, output.notes.len()), (1, 2));
        assert!(output.text.ends_with("500 refused") && output.notes[0] == "x", "{output:?}");
        assert!(output.notes[1].starts_with("stopped at line 502: gone;"), "{output:?}");
        let failed = all.import_in_requests(&Progress::default(), |_part| Err(anyhow!("gone")));
        assert_eq!(failed.unwrap_err().to_string(), "gone");
    }

    #[test]
    fn no_request_follows_a_partly_executed_one() {
        let mut requests = 0;
        let output = import_command(3 * ROWS_PER_REQUEST).import_in_requests(&Progress::default(), |_part| {
            requests += 1;
            refused_output(if requests == 1 { ROWS_PER_REQUEST } else { 100 })
        });
        assert_eq!(
            (requests, output.unwrap().text),
            (2, "0 created, 0 updated, 0 unchanged, 600 refused".into())
        );
    }

    #[test]
    fn only_the_first_part_of_an_import_is_logged() {
        let mut logged = Vec::new();
        let output = import_command(3 * ROWS_PER_REQUEST).import_in_requests(&Progress::default(), |part| {
            logged.push(part.is_logged());
            refused_output(ROWS_PER_REQUEST)
        });
        assert_eq!((output.unwrap().status, logged), (1, vec![true, false, false]));
    }
}
