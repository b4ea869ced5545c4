//! Parses the file of a migration into its floor and its steps.

use super::migration::Migration;
use super::statements::statements;
use crate::access::OpenError;

const DIRECTIVES: &str = "floor NNNN, in a transaction, outside a transaction, in batches of TABLE by KEY";
/// The placeholder for the range of keys in a step in batches.
const BATCH: &str = ":batch";

/// The parsed file of a migration.
#[derive(Debug)]
pub(super) struct Script {
    /// The minimum version that a program must know to work with this migration.
    pub floor: String,
    pub steps: Vec<Step>,
}

/// A unit that is executed and recorded as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Any number of statements in one transaction.
    Together(String),
    /// One statement that PostgreSQL executes without blocking others.
    Concurrently(Concurrently),
    /// One statement, for one range of a table's keys after the other.
    Batches(Batches),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Batches {
    pub table: String,
    pub key: String,
    statement: String,
}

impl Batches {
    /// The statement, limited to the rows that match a condition.
    pub(super) fn of(&self, condition: &str) -> String {
        self.statement.replace(BATCH, &format!("({condition})"))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Concurrently {
    pub statement: String,
    /// The index that it creates; `None` if it drops one.
    pub makes: Option<String>,
}

enum Kind {
    Together,
    Concurrently,
    Batches { table: String, key: String },
}

impl Script {
    pub(super) fn parse(migration: &Migration) -> Result<Self, OpenError> {
        parse(migration.version(), migration.sql).map_err(|why| migration.failed(&why))
    }

    /// The tables, columns and indexes that it creates, as SQL for a transaction in an empty schema.
    pub(super) fn structure(&self) -> String {
        let text = |step: &Step| match step {
            Step::Together(sql) => sql.clone(),
            Step::Concurrently(index) => index.statement.replacen(" CONCURRENTLY", "", 1),
            Step::Batches(_) => String::new(),
        };
        self.steps.iter().map(text).collect::<Vec<_>>().join("\n")
    }
}

fn parse(version: &str, sql: &str) -> Result<Script, String> {
    if !is_version(version) {
        return Err("its name must begin with four digits".into());
    }
    let (mut floor, mut steps, mut kind, mut text) = (None, Vec::new(), None, String::new());
    for line in sql.lines() {
        let Some(directive) = directive(line) else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let words: Vec<&str> = directive.split_whitespace().collect();
        let begins = match words.as_slice() {
            ["floor", named] if is_version(named) => {
                if floor.replace((*named).to_owned()).is_some() || *named > version {
                    return Err(format!("the floor {named} is its second, or is above {version}"));
                }
                continue;
            }
            ["in", "a", "transaction"] => Kind::Together,
            ["outside", "a", "transaction"] => Kind::Concurrently,
            ["in", "batches", "of", table, "by", key] if is_plain(table) && is_plain(key) => {
                Kind::Batches { table: (*table).to_owned(), key: (*key).to_owned() }
            }
            _ => return Err(format!("`{directive}` is none of {DIRECTIVES}")),
        };
        steps.extend(step(kind.replace(begins), &text)?);
        text.clear();
    }
    steps.extend(step(kind, &text)?);
    if steps.is_empty() {
        return Err("it has no statement".into());
    }
    Ok(Script { floor: floor.unwrap_or_else(|| version.to_owned()), steps })
}

fn is_version(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn directive(line: &str) -> Option<&str> {
    line.trim().strip_prefix("--")?.trim_start().strip_prefix("guerdon:").map(str::trim)
}

/// The step under a directive, or before the first one, where comments alone are not a step.
fn step(kind: Option<Kind>, text: &str) -> Result<Option<Step>, String> {
    let lines: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
    let statement = lines.join("\n").trim().to_owned();
    if statement.is_empty() {
        return if kind.is_some() { Err("a step has no statement".into()) } else { Ok(None) };
    }
    let is_one = statements(&statement).len() == 1 && statement.ends_with(';');
    Ok(Some(match kind.unwrap_or(Kind::Together) {
        Kind::Together => Step::Together(text.to_owned()),
        _ if !is_one => {
            return Err(format!("what is not `in a transaction` is one statement and its `;`: {statement}"));
        }
        Kind::Concurrently => Step::Concurrently(concurrently(statement)?),
        Kind::Batches { table, key } if statement.matches(BATCH).count() == 1 => {
            Step::Batches(Batches { table, key, statement })
        }
        Kind::Batches { .. } => return Err(format!("the condition {BATCH} must stand once in {statement}")),
    }))
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.trim().starts_with("--")
}

fn concurrently(statement: String) -> Result<Concurrently, String> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let makes = match words.as_slice() {
        ["CREATE", "INDEX", "CONCURRENTLY", name, "ON", ..]
        | ["CREATE", "UNIQUE", "INDEX", "CONCURRENTLY", name, "ON", ..]
            if is_plain(name) =>
        {
            Some((*name).to_owned())
        }
        ["DROP", "INDEX", "CONCURRENTLY", "IF", "EXISTS", _] => None,
        _ => {
            return Err(format!(
                "`outside a transaction` is for CREATE [UNIQUE] INDEX CONCURRENTLY name ON … \
                 and DROP INDEX CONCURRENTLY IF EXISTS name, not for {statement}"
            ));
        }
    };
    Ok(Concurrently { statement, makes })
}

fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::{Step, parse};

    fn steps(sql: &str) -> Vec<&'static str> {
        let kind = |step: &Step| match step {
            Step::Together(_) => "together",
            Step::Concurrently(_) => "concurrently",
            Step::Batches(_) => "batches",
        };
        parse("0005", sql).unwrap().steps.iter().map(kind).collect()
    }

    fn refused(sql: &str, part: &str) {
        let why = parse("0005", sql).unwrap_err();
        assert!(why.contains(part), "`{why}` does not say `{part}`");
    }

    #[test]
    fn a_file_without_directives_is_one_transaction_and_its_own_floor() {
        let script =
            parse("0005", "-- About it.\n\nCREATE TABLE a (b int);\nCREATE TABLE c (d int);").unwrap();
        assert_eq!((script.steps.len(), script.floor.as_str()), (1, "0005"));
    }

    #[test]
    fn directives_make_steps() {
        let sql = "-- guerdon: floor 0003\n-- About it.\nALTER TABLE a ADD b int;\n\
                   -- guerdon: outside a transaction\n-- For the lists.\n\
                   CREATE UNIQUE INDEX CONCURRENTLY i ON a (b);\n\
                   --guerdon: in batches of a by id\nUPDATE a SET b = 1\nWHERE :batch AND b IS NULL;\n\
                   -- guerdon: outside a transaction\nDROP INDEX CONCURRENTLY IF EXISTS i;\n\
                   -- guerdon: in a transaction\nALTER TABLE a ADD c int;\nALTER TABLE a ADD d int;\n";
        assert_eq!(steps(sql), ["together", "concurrently", "batches", "concurrently", "together"]);
        let script = parse("0005", sql).unwrap();
        assert_eq!(script.floor, "0003");
        let Step::Batches(batches) = &script.steps[2] else { panic!("{script:?}") };
        assert_eq!(batches.of("id > 7"), "UPDATE a SET b = 1\nWHERE (id > 7) AND b IS NULL;");
        let Step::Concurrently(index) = &script.steps[1] else { panic!("{script:?}") };
        assert_eq!(index.makes.as_deref(), Some("i"));
        let structure = script.structure();
        assert!(structure.contains("CREATE UNIQUE INDEX i ON a (b);"), "{structure}");
        assert!(!structure.contains("UPDATE") && !structure.contains("CONCURRENTLY"), "{structure}");
    }

    #[test]
    fn what_is_not_meant_is_refused() {
        refused("-- guerdon: in a batch\nUPDATE a SET b = 1;", "in a batch");
        refused("-- guerdon: floor 6\nSELECT 1;", "floor 6");
        refused("-- guerdon: floor 0006\nSELECT 1;", "above 0005");
        refused("-- guerdon: floor 0003\n-- guerdon: floor 0003\nSELECT 1;", "second");
        refused("-- only words\n", "no statement");
        refused("SELECT 1;\n-- guerdon: in batches of a by id\n-- nothing\n", "no statement");
        refused(
            "-- guerdon: in batches of a by id\nUPDATE a SET b = 1 WHERE :batch;\nSELECT 1;",
            "one statement",
        );
        refused("-- guerdon: in batches of a by id\nUPDATE a SET b = 1 WHERE :batch", "one statement");
        refused("-- guerdon: in batches of a by id\nUPDATE a SET b = 1;", ":batch");
        let quoted = "-- guerdon: in batches of a by id\nUPDATE a SET b = ';' WHERE :batch;";
        assert_eq!(steps(quoted), ["batches"]);
        refused("-- guerdon: outside a transaction\nCREATE INDEX i ON a (b);", "CONCURRENTLY");
        refused("-- guerdon: outside a transaction\nDROP INDEX CONCURRENTLY i;", "IF EXISTS");
        assert!(parse("5", "SELECT 1;").is_err());
    }
}
