//! `guerdon import users`.

use anyhow::Context as _;
use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{Context, StoreExt, Tx};
use guerdon_domain::users::{CreateUserError, Found, UpdateUserError, create, find, update};
use guerdon_domain::values::{CompanyId, EmailAddress, Line, ProviderId};
use guerdon_http_api::rows::{changed_user, new_user};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::import_file::{Row, Rows, rows};
use super::named::CompanyName;
use super::{CommandError, Output, Runnable, View, Workplace};
use crate::progress::Progress;

/// How many rows one transaction takes: few enough that nobody waits long behind it.
const AT_ONCE: usize = 100;
/// How many are handed over at a time.
const PART: usize = 5_000;

/// Creates or updates a company's users from a file: CSV with a line of field names, or JSON lines. A row is about the
/// user who has its `employee_id`, or else its `email`; who is not there is created. A field that a row does not have stays
/// as it is, and so does one whose cell is empty; null in JSON clears it. Repeating it changes nothing more.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Users {
    /// The file: .csv, or .jsonl with a JSON object on each line
    #[arg(value_name = "FILE", value_parser = rows)]
    file: Result<Rows, String>,
    /// Into this company: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: CompanyName,
    /// All rows or none; others who write wait meanwhile on the embedded database
    #[arg(long)]
    atomic: bool,
}

/// What became of the rows.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Imported {
    created: usize,
    updated: usize,
    unchanged: usize,
    refused: usize,
}

impl Imported {
    fn all(self) -> usize {
        self.created + self.updated + self.unchanged + self.refused
    }
}

impl View for Imported {
    fn text(&self) -> String {
        let Self { created, updated, unchanged, refused } = self;
        format!("{created} created, {updated} updated, {unchanged} unchanged, {refused} refused")
    }
}

/// What became of one row.
enum Done {
    Created,
    Updated,
    Unchanged,
    /// With the reason.
    Refused(String),
}

#[derive(Default)]
struct Report {
    counts: Imported,
    notes: Vec<String>,
}

impl Report {
    fn add(&mut self, line: usize, done: Done) {
        match done {
            Done::Created => self.counts.created += 1,
            Done::Updated => self.counts.updated += 1,
            Done::Unchanged => self.counts.unchanged += 1,
            Done::Refused(why) => {
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

    /// What is told where a part could not be done: what came before it, and why it ends there.
    fn until(mut self, part: &[Row], cause: &anyhow::Error) -> Result<Output, CommandError> {
        let line = part.first().map_or(0, |it| it.line);
        self.notes.push(format!(
            "from line {line} on it is not known to be done: {cause:#}\nRepeat it all: nothing is done twice."
        ));
        Ok(Output { status: 1, ..self.output()? })
    }

    fn output(self) -> Result<Output, CommandError> {
        let status = u8::from(self.counts.refused > 0);
        Ok(Output { status, notes: self.notes, ..self.counts.output()? })
    }
}

impl Users {
    /// Has it done part by part, each by `run`: a file may hold more than a service should keep at once. Tells all of them
    /// as one.
    pub(crate) fn in_parts(
        &self,
        progress: &Progress,
        mut run: impl FnMut(Self) -> anyhow::Result<Output>,
    ) -> anyhow::Result<Output> {
        let Rows(rows) = self.rows()?;
        progress.of_rows(rows.len());
        if self.atomic || rows.len() <= PART {
            return run(self.clone());
        }
        let mut report = Report::default();
        for part in rows.chunks(PART) {
            match run(self.of(part)) {
                Ok(done) => {
                    let counts: Imported =
                        serde_json::from_str(&done.json).context("reading what was done")?;
                    report.merge(Report { counts, notes: done.notes });
                }
                Err(cause) if report.counts.all() == 0 => return Err(cause),
                Err(cause) => return Ok(report.until(part, &cause)?),
            }
            progress.advance(part.len());
        }
        Ok(report.output()?)
    }

    fn rows(&self) -> Result<&Rows, CommandError> {
        self.file.as_ref().map_err(CommandError::refused)
    }

    /// The same with these rows alone.
    fn of(&self, part: &[Row]) -> Self {
        Self { file: Ok(Rows(part.to_vec())), company: self.company.clone(), atomic: self.atomic }
    }
}

/// How a whole that is undone is told.
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
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let company = self.company.company(workplace)?;
        let place = (company.provider_id, company.id);
        let Rows(rows) = self.rows()?;
        if !self.atomic {
            let mut report = Report::default();
            for rows in rows.chunks(AT_ONCE) {
                report.merge(workplace.store.transaction(|tx| import(tx, place, rows, workplace))?);
            }
            return report.output();
        }
        let done = workplace.store.transaction(|tx| {
            let report = import(tx, place, rows, workplace)?;
            if report.counts.refused > 0 { Err(Undone::Refused(report)) } else { Ok(report) }
        });
        match done {
            Ok(report) => report.output(),
            Err(Undone::Failed(cause)) => Err(cause),
            Err(Undone::Refused(report)) => {
                let refused = report.counts.refused;
                Report { counts: Imported { refused, ..Imported::default() }, ..report }.output()
            }
        }
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

fn import(
    tx: &mut dyn Tx,
    (scope, company): (ProviderId, CompanyId),
    rows: &[Row],
    workplace: &Workplace,
) -> Result<Report, CommandError> {
    let context = workplace.context();
    let mut report = Report::default();
    for row in rows {
        let done = match &row.fields {
            Ok(fields) => one(tx, (scope, company), fields, &context)?,
            Err(why) => Done::Refused(why.clone()),
        };
        report.add(row.line, done);
    }
    let Imported { created, updated, .. } = report.counts;
    if created + updated > 0 {
        let entry = context.entry(Action::UsersImported).of_company(company).of_provider(scope);
        tx.note(&entry.saying(format!("{created} created, {updated} updated")))?;
    }
    Ok(report)
}

fn one(
    tx: &mut dyn Tx,
    (scope, company): (ProviderId, CompanyId),
    row: &Map<String, Value>,
    context: &Context<'_>,
) -> Result<Done, CommandError> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    let (employee_id, email) = (text("employee_id"), text("email"));
    if employee_id.is_none() && email.is_none() {
        return Ok(Done::Refused("employee_id or email is required".to_owned()));
    }
    // What is no id or address names nobody; the reader of the field tells the fault.
    let id = employee_id.and_then(|it| Line::parse(it).ok());
    let address = email.and_then(|it| EmailAddress::parse(it).ok());
    let before = match find(tx, company, id, address)? {
        Found::One(user) => user,
        Found::Several => {
            return Ok(Done::Refused("several active users have this employee_id".to_owned()));
        }
        Found::Nobody => return new(tx, (scope, company), row, context),
    };
    let command = match changed_user(row) {
        Ok(command) => command,
        Err(why) => return Ok(Done::Refused(why)),
    };
    match update(tx, scope, before.id, &command, context) {
        Ok(after) if after == *before => Ok(Done::Unchanged),
        Ok(_) => Ok(Done::Updated),
        Err(UpdateUserError::Store(cause)) => Err(cause.into()),
        Err(why) => Ok(Done::Refused(why.to_string())),
    }
}

fn new(
    tx: &mut dyn Tx,
    (scope, company): (ProviderId, CompanyId),
    row: &Map<String, Value>,
    context: &Context<'_>,
) -> Result<Done, CommandError> {
    let profile = match new_user(company, row) {
        Ok(profile) => profile,
        Err(why) => return Ok(Done::Refused(why)),
    };
    match create(tx, scope, company, &profile, context) {
        Ok(_) => Ok(Done::Created),
        Err(CreateUserError::Store(cause)) => Err(cause.into()),
        Err(why) => Ok(Done::Refused(why.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn what_came_before_a_fault_is_told() {
        let row = |at: usize| Row { line: at + 2, fields: Ok(Map::new()) };
        let rows = Rows((0..2 * PART).map(row).collect());
        let all = Users { file: Ok(rows), company: "acme.example".parse().unwrap(), atomic: false };
        let refused =
            || Report { counts: Imported { refused: 1, ..Imported::default() }, notes: vec!["x".to_owned()] };
        let mut left = 1;
        let told = all.in_parts(&Progress::default(), |_part| match left {
            0 => Err(anyhow!("gone")),
            _ => {
                left -= 1;
                Ok(refused().output()?)
            }
        });
        let told = told.unwrap();
        assert_eq!((told.status, told.notes.len()), (1, 2));
        assert!(told.text.ends_with("1 refused") && told.notes[0] == "x", "{told:?}");
        assert!(told.notes[1].contains("from line 5002 on") && told.notes[1].contains("gone"), "{told:?}");
        let failed = all.in_parts(&Progress::default(), |_part| Err(anyhow!("gone")));
        assert_eq!(failed.unwrap_err().to_string(), "gone");
    }
}
