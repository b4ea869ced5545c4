//! `guerdon import users`.

use std::fmt::Display;

use anyhow::Context as _;
use guerdon_domain::ports::{StoreExt, Tx};
use guerdon_domain::users::{self, Imported};
use guerdon_domain::values::{CompanyId, ProviderId};
use serde::{Deserialize, Serialize};

use super::arguments::names::CompanyName;
use super::import_file::{Row, Rows, rows};
use super::{CommandEnvironment, CommandError, Output, Runnable, View};
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
    #[arg(value_name = "FILE", value_parser = rows)]
    file: Result<Rows, String>,
    /// The company: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: CompanyName,
    /// Import all rows or none; on the embedded database, other writers wait until the import ends
    #[arg(long)]
    atomic: bool,
    /// Whether these rows continue an import that is already in the audit log.
    #[arg(skip)]
    continues: bool,
}

/// How many rows had each outcome.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Counts {
    created: usize,
    updated: usize,
    unchanged: usize,
    refused: usize,
}

impl Counts {
    fn all(self) -> usize {
        self.created + self.updated + self.unchanged + self.refused
    }
}

impl View for Counts {
    fn text(&self) -> String {
        let Self { created, updated, unchanged, refused } = self;
        format!("{created} created, {updated} updated, {unchanged} unchanged, {refused} refused")
    }
}

#[derive(Default)]
struct Report {
    counts: Counts,
    notes: Vec<String>,
}

impl Report {
    fn add(&mut self, line: usize, outcome: Imported) {
        match outcome {
            Imported::Created => self.counts.created += 1,
            Imported::Updated => self.counts.updated += 1,
            Imported::Unchanged => self.counts.unchanged += 1,
            Imported::Refused(why) => {
                self.counts.refused += 1;
                self.notes.push(format!("line {line}: {}", why.replace('\n', " ")));
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.counts.created += other.counts.created;
        self.counts.updated += other.counts.updated;
        self.counts.unchanged += other.counts.unchanged;
        self.counts.refused += other.counts.refused;
        self.notes.extend(other.notes);
    }

    /// The output if the rows from `rest` on failed after others were imported.
    fn until(mut self, rest: &[Row], cause: impl Display) -> Result<Output, CommandError> {
        let line = rest.first().map_or(0, |row| row.line);
        self.notes.push(format!(
            "stopped at line {line}: {cause}; later rows may not be imported: run the import again, which repeats \
             nothing twice"
        ));
        Ok(Output { status: 1, ..self.output()? })
    }

    fn output(self) -> Result<Output, CommandError> {
        let status = u8::from(self.counts.refused > 0);
        Ok(Output { status, notes: self.notes, ..self.counts.output()? })
    }
}

impl Users {
    /// Imports the rows through a running service in several requests, because the file may be larger than the service
    /// should hold in memory. Returns the sum of all results.
    pub(crate) fn in_requests(
        &self,
        progress: &Progress,
        mut request: impl FnMut(Self) -> anyhow::Result<Output>,
    ) -> anyhow::Result<Output> {
        let Rows(rows) = self.rows()?;
        if self.atomic || rows.len() <= ROWS_PER_REQUEST {
            return request(self.clone());
        }
        progress.of_rows(rows.len());
        let mut report = Report::default();
        for part in rows.chunks(ROWS_PER_REQUEST) {
            let before = report.counts.all();
            match request(self.of(part, before > 0)) {
                Ok(done) => {
                    let counts: Counts = serde_json::from_str(&done.json).context("reading what was done")?;
                    report.merge(Report { counts, notes: done.notes });
                    if counts.all() < part.len() {
                        return Ok(Output { status: 1, ..report.output()? }); // the notes say why the import stopped
                    }
                }
                Err(cause) if before == 0 => return Err(cause),
                Err(cause) => return Ok(report.until(part, format!("{cause:#}"))?),
            }
            progress.advance(part.len());
        }
        Ok(report.output()?)
    }

    fn rows(&self) -> Result<&Rows, CommandError> {
        self.file.as_ref().map_err(CommandError::refused)
    }

    /// Returns this command for a part of its rows.
    fn of(&self, part: &[Row], continues: bool) -> Self {
        let file = Ok(Rows(part.to_vec()));
        Self { file, company: self.company.clone(), atomic: self.atomic, continues }
    }

    /// Imports the rows, a few in each transaction.
    fn in_transactions(
        rows: &[Row],
        place: (ProviderId, CompanyId),
        environment: &CommandEnvironment,
    ) -> Result<Output, CommandError> {
        let mut report = Report::default();
        let mut rest = rows;
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(rest.len().min(ROWS_PER_TRANSACTION));
            match environment.store.transaction(|tx| import(tx, place, batch, environment)) {
                Ok(done) => report.merge(done),
                Err(cause) if report.counts.all() == 0 => return Err(cause),
                Err(cause) => return report.until(rest, cause),
            }
            environment.progress.advance(batch.len());
            rest = after;
        }
        report.output()
    }
}

/// Why an atomic import was rolled back.
enum Undone {
    Refused(Report),
    Failed(CommandError),
}

impl<E: Into<CommandError>> From<E> for Undone {
    fn from(cause: E) -> Self {
        Self::Failed(cause.into())
    }
}

impl Runnable for Users {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let company = self.company.load(environment)?;
        let place = (company.provider_id, company.id);
        let Rows(rows) = self.rows()?;
        environment.progress.of_rows(rows.len());
        if !self.atomic {
            return Self::in_transactions(rows, place, environment);
        }
        let done = environment.store.transaction(|tx| {
            let mut report = Report::default();
            for batch in rows.chunks(ROWS_PER_TRANSACTION) {
                report.merge(import(tx, place, batch, environment)?);
            }
            if report.counts.refused > 0 { Err(Undone::Refused(report)) } else { Ok(report) }
        });
        match done {
            Ok(report) => report.output(),
            Err(Undone::Failed(cause)) => Err(cause),
            Err(Undone::Refused(report)) => {
                let refused = report.counts.refused;
                Report { counts: Counts { refused, ..Counts::default() }, ..report }.output()
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

fn import(
    tx: &mut dyn Tx,
    place: (ProviderId, CompanyId),
    rows: &[Row],
    environment: &CommandEnvironment,
) -> Result<Report, CommandError> {
    let mut report = Report::default();
    for (row, outcome) in rows.iter().zip(users::import(tx, place, rows, &environment.context())?) {
        report.add(row.line, outcome);
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use serde_json::Map;

    use super::*;

    fn command(rows: usize) -> Users {
        let row = |at: usize| Row { line: at + 2, fields: Ok(Map::new()) };
        let file = Ok(Rows((0..rows).map(row).collect()));
        Users { file, company: "acme.example".parse().unwrap(), atomic: false, continues: false }
    }

    fn refused(count: usize) -> anyhow::Result<Output> {
        let counts = Counts { refused: count, ..Counts::default() };
        Ok(Report { counts, notes: vec!["x".to_owned()] }.output()?)
    }

    #[test]
    fn a_failure_midway_still_reports_the_imported_rows() {
        let all = command(3 * ROWS_PER_REQUEST);
        let mut left = 1;
        let printed = all.in_requests(&Progress::default(), |_part| match left {
            0 => Err(anyhow!("gone")),
            _ => {
                left -= 1;
                refused(ROWS_PER_REQUEST)
            }
        });
        let printed = printed.unwrap();
        assert_eq!((printed.status, printed.notes.len()), (1, 2));
        assert!(printed.text.ends_with("500 refused") && printed.notes[0] == "x", "{printed:?}");
        assert!(printed.notes[1].starts_with("stopped at line 502: gone;"), "{printed:?}");
        let failed = all.in_requests(&Progress::default(), |_part| Err(anyhow!("gone")));
        assert_eq!(failed.unwrap_err().to_string(), "gone");
    }

    #[test]
    fn no_request_follows_a_partly_executed_one() {
        let mut requests = 0;
        let printed = command(3 * ROWS_PER_REQUEST).in_requests(&Progress::default(), |_part| {
            requests += 1;
            refused(if requests == 1 { ROWS_PER_REQUEST } else { 100 })
        });
        assert_eq!(
            (requests, printed.unwrap().text),
            (2, "0 created, 0 updated, 0 unchanged, 600 refused".into())
        );
    }

    #[test]
    fn an_import_writes_one_audit_entry() {
        let mut logged = Vec::new();
        let sent = command(3 * ROWS_PER_REQUEST).in_requests(&Progress::default(), |part| {
            logged.push(part.is_logged());
            refused(ROWS_PER_REQUEST)
        });
        assert_eq!((sent.unwrap().status, logged), (1, vec![true, false, false]));
    }
}
