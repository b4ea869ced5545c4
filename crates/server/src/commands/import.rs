//! `guerdon import users`.

use std::fmt::Display;

use anyhow::Context as _;
use guerdon_domain::ports::{StoreExt, Tx};
use guerdon_domain::users::{self, ImportOutcome};
use guerdon_domain::values::{CompanyId, ProviderId};
use serde::{Deserialize, Serialize};

use super::arguments::identifiers::CompanyArgument;
use super::import_file::{ImportRow, ImportRows, read_rows};
use super::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::terminal::Progress;

/// The rows per transaction: few enough that other writers do not wait long.
const ROWS_PER_TRANSACTION: usize = 100;
/// The rows per request to a running service. Each request is parsed on its own thread, whose allocator keeps the
/// memory: with 5,000 rows the service stayed 200 MiB larger after an import.
const ROWS_PER_REQUEST: usize = 500;

/// Create or update a company's users from a file: CSV with a header line, or JSON lines. A row matches the user with
/// its `employee_id`, or else with its `email`; if no user matches, one is created. Missing fields and empty cells
/// leave a value unchanged; null in JSON clears it. Importing a file again changes nothing.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Users {
    /// The file: .csv, or .jsonl with a JSON object on each line
    #[arg(value_name = "FILE", value_parser = read_rows)]
    file: Result<ImportRows, String>,
    /// The company: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: CompanyArgument,
    /// Import all rows or none; on the embedded database, other writers wait until the import ends
    #[arg(long)]
    atomic: bool,
    /// Whether these rows continue an import that is already in the audit log.
    #[arg(skip)]
    continues: bool,
}

/// How many rows had each outcome.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct ImportCounts {
    created: usize,
    updated: usize,
    unchanged: usize,
    refused: usize,
}

impl ImportCounts {
    fn total_rows(self) -> usize {
        self.created + self.updated + self.unchanged + self.refused
    }
}

impl CommandView for ImportCounts {
    fn to_text(&self) -> String {
        let Self { created, updated, unchanged, refused } = self;
        format!("{created} created, {updated} updated, {unchanged} unchanged, {refused} refused")
    }
}

#[derive(Default)]
struct ImportReport {
    counts: ImportCounts,
    notes: Vec<String>,
}

impl ImportReport {
    fn add_outcome(&mut self, line: usize, outcome: ImportOutcome) {
        match outcome {
            ImportOutcome::Created => self.counts.created += 1,
            ImportOutcome::Updated => self.counts.updated += 1,
            ImportOutcome::Unchanged => self.counts.unchanged += 1,
            ImportOutcome::Refused(why) => {
                self.counts.refused += 1;
                self.notes.push(format!("line {line}: {}", why.replace('\n', " ")));
            }
        }
    }

    fn add_report(&mut self, other: Self) {
        self.counts.created += other.counts.created;
        self.counts.updated += other.counts.updated;
        self.counts.unchanged += other.counts.unchanged;
        self.counts.refused += other.counts.refused;
        self.notes.extend(other.notes);
    }

    /// The output if the rows from `rest` on failed after others were imported.
    fn into_stopped_output(
        mut self,
        rest: &[ImportRow],
        cause: impl Display,
    ) -> Result<CommandOutput, CommandError> {
        let line = rest.first().map_or(0, |row| row.line);
        self.notes.push(format!(
            "stopped at line {line}: {cause}; later rows may not be imported: run the import again, which repeats \
             nothing twice"
        ));
        Ok(CommandOutput { status: 1, ..self.into_output()? })
    }

    fn into_output(self) -> Result<CommandOutput, CommandError> {
        let status = u8::from(self.counts.refused > 0);
        Ok(CommandOutput { status, notes: self.notes, ..self.counts.to_output()? })
    }
}

impl Users {
    /// Imports the rows through a running service in several requests, because the file may be larger than the service
    /// should hold in memory. Returns the sum of all results.
    pub(crate) fn import_in_requests(
        &self,
        progress: &Progress,
        mut request: impl FnMut(Self) -> anyhow::Result<CommandOutput>,
    ) -> anyhow::Result<CommandOutput> {
        let ImportRows(rows) = self.require_rows()?;
        if self.atomic || rows.len() <= ROWS_PER_REQUEST {
            return request(self.clone());
        }
        progress.show_rows(rows.len());
        let mut report = ImportReport::default();
        for part in rows.chunks(ROWS_PER_REQUEST) {
            let before = report.counts.total_rows();
            match request(self.with_rows(part, before > 0)) {
                Ok(done) => {
                    let counts: ImportCounts =
                        serde_json::from_str(&done.json).context("reading what was done")?;
                    report.add_report(ImportReport { counts, notes: done.notes });
                    if counts.total_rows() < part.len() {
                        return Ok(CommandOutput { status: 1, ..report.into_output()? }); // the notes say why the import stopped
                    }
                }
                Err(cause) if before == 0 => return Err(cause),
                Err(cause) => return Ok(report.into_stopped_output(part, format!("{cause:#}"))?),
            }
            progress.advance_by(part.len());
        }
        Ok(report.into_output()?)
    }

    fn require_rows(&self) -> Result<&ImportRows, CommandError> {
        self.file.as_ref().map_err(CommandError::refused)
    }

    /// Returns this command for a part of its rows.
    fn with_rows(&self, part: &[ImportRow], continues: bool) -> Self {
        let file = Ok(ImportRows(part.to_vec()));
        Self { file, company: self.company.clone(), atomic: self.atomic, continues }
    }

    /// Imports the rows, a few in each transaction.
    fn import_in_transactions(
        rows: &[ImportRow],
        company_scope: (ProviderId, CompanyId),
        environment: &CommandEnvironment,
    ) -> Result<CommandOutput, CommandError> {
        let mut report = ImportReport::default();
        let mut rest = rows;
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(rest.len().min(ROWS_PER_TRANSACTION));
            match environment.store.transaction(|tx| import_batch(tx, company_scope, batch, environment)) {
                Ok(done) => report.add_report(done),
                Err(cause) if report.counts.total_rows() == 0 => return Err(cause),
                Err(cause) => return report.into_stopped_output(rest, cause),
            }
            environment.progress.advance_by(batch.len());
            rest = after;
        }
        report.into_output()
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
        let ImportRows(rows) = self.require_rows()?;
        environment.progress.show_rows(rows.len());
        if !self.atomic {
            return Self::import_in_transactions(rows, company_scope, environment);
        }
        let done = environment.store.transaction(|tx| {
            let mut report = ImportReport::default();
            for batch in rows.chunks(ROWS_PER_TRANSACTION) {
                report.add_report(import_batch(tx, company_scope, batch, environment)?);
            }
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

    fn may_take_long(&self) -> bool {
        true
    }

    fn is_logged(&self) -> bool {
        !self.continues
    }
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
    use anyhow::anyhow;
    use serde_json::Map;

    use super::*;

    fn import_command(rows: usize) -> Users {
        let row = |at: usize| ImportRow { line: at + 2, fields: Ok(Map::new()) };
        let file = Ok(ImportRows((0..rows).map(row).collect()));
        Users { file, company: "acme.example".parse().unwrap(), atomic: false, continues: false }
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
    fn an_import_writes_one_audit_entry() {
        let mut logged = Vec::new();
        let output = import_command(3 * ROWS_PER_REQUEST).import_in_requests(&Progress::default(), |part| {
            logged.push(part.is_logged());
            refused_output(ROWS_PER_REQUEST)
        });
        assert_eq!((output.unwrap().status, logged), (1, vec![true, false, false]));
    }
}
