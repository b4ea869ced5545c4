//! Parses the file of a migration into its floor and its steps.

use super::migration::Migration;
use super::statements::split_statements;
use crate::access::OpenError;

const DIRECTIVES: &str = "floor NNNN, in a transaction, outside a transaction, in batches of TABLE by KEY";
/// The placeholder for the range of keys in a step in batches.
const BATCH_PLACEHOLDER: &str = ":batch";

/// The parsed file of a migration.
#[derive(Debug)]
pub(super) struct Script {
    /// The minimum version that a program must know to work with this migration.
    pub floor: String,
    pub steps: Vec<MigrationStep>,
}

/// A unit that is executed and recorded as a whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MigrationStep {
    /// Any number of statements in one transaction.
    Transaction(String),
    /// One statement that PostgreSQL executes without blocking others.
    ConcurrentIndex(ConcurrentIndex),
    /// One statement, executed once for each range of a table's keys.
    Batches(BatchedUpdate),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct BatchedUpdate {
    pub table: String,
    pub key: String,
    statement: String,
}

impl BatchedUpdate {
    /// The statement, limited to the rows that match a condition.
    pub(super) fn for_range(&self, condition: &str) -> String {
        self.statement.replace(BATCH_PLACEHOLDER, &format!("({condition})"))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConcurrentIndex {
    pub statement: String,
    /// The name of the index that the statement creates; `None` if it drops one.
    pub created_index: Option<String>,
}

enum StepKind {
    Together,
    Concurrently,
    Batches { table: String, key: String },
}

impl Script {
    pub(super) fn parse(migration: &Migration) -> Result<Self, OpenError> {
        parse_script(migration.version(), migration.sql).map_err(|why| migration.failed_because(&why))
    }

    /// The SQL that creates the migration's tables, columns and indexes in one transaction in an empty
    /// schema.
    pub(super) fn schema_sql(&self) -> String {
        let text = |step: &MigrationStep| match step {
            MigrationStep::Transaction(sql) => sql.clone(),
            MigrationStep::ConcurrentIndex(index) => index.statement.replacen(" CONCURRENTLY", "", 1),
            MigrationStep::Batches(_) => String::new(),
        };
        self.steps.iter().map(text).collect::<Vec<_>>().join("\n")
    }
}

fn parse_script(version: &str, sql: &str) -> Result<Script, String> {
    if !is_version(version) {
        return Err("the name must begin with four digits".into());
    }
    let (mut floor, mut steps, mut kind, mut text) = (None, Vec::new(), None, String::new());
    for line in sql.lines() {
        let Some(directive) = parse_directive(line) else {
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let words: Vec<&str> = directive.split_whitespace().collect();
        let begins = match words.as_slice() {
            ["floor", named] if is_version(named) => {
                if floor.replace((*named).to_owned()).is_some() || *named > version {
                    return Err(format!("the floor {named} is given twice, or is above {version}"));
                }
                continue;
            }
            ["in", "a", "transaction"] => StepKind::Together,
            ["outside", "a", "transaction"] => StepKind::Concurrently,
            ["in", "batches", "of", table, "by", key] if is_plain(table) && is_plain(key) => {
                StepKind::Batches { table: (*table).to_owned(), key: (*key).to_owned() }
            }
            _ => return Err(format!("`{directive}` is not one of {DIRECTIVES}")),
        };
        steps.extend(parse_step(kind.replace(begins), &text)?);
        text.clear();
    }
    steps.extend(parse_step(kind, &text)?);
    if steps.is_empty() {
        return Err("the file has no statement".into());
    }
    Ok(Script { floor: floor.unwrap_or_else(|| version.to_owned()), steps })
}

fn is_version(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse_directive(line: &str) -> Option<&str> {
    line.trim().strip_prefix("--")?.trim_start().strip_prefix("guerdon:").map(str::trim)
}

/// Parses the step under a directive, or before the first directive, where comments alone are not a step.
fn parse_step(kind: Option<StepKind>, text: &str) -> Result<Option<MigrationStep>, String> {
    let lines: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
    let statement = lines.join("\n").trim().to_owned();
    if statement.is_empty() {
        return if kind.is_some() { Err("a step has no statement".into()) } else { Ok(None) };
    }
    let is_one = split_statements(&statement).len() == 1 && statement.ends_with(';');
    Ok(Some(match kind.unwrap_or(StepKind::Together) {
        StepKind::Together => MigrationStep::Transaction(text.to_owned()),
        _ if !is_one => {
            return Err(format!(
                "a step outside a transaction must be a single statement that ends in `;`: {statement}"
            ));
        }
        StepKind::Concurrently => MigrationStep::ConcurrentIndex(parse_concurrent_index(statement)?),
        StepKind::Batches { table, key } if statement.matches(BATCH_PLACEHOLDER).count() == 1 => {
            MigrationStep::Batches(BatchedUpdate { table, key, statement })
        }
        StepKind::Batches { .. } => {
            return Err(format!("the condition {BATCH_PLACEHOLDER} must occur once in {statement}"));
        }
    }))
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.trim().starts_with("--")
}

fn parse_concurrent_index(statement: String) -> Result<ConcurrentIndex, String> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let created_index = match words.as_slice() {
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
    Ok(ConcurrentIndex { statement, created_index })
}

fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::{MigrationStep, parse_script};

    fn step_kinds(sql: &str) -> Vec<&'static str> {
        let kind = |step: &MigrationStep| match step {
            MigrationStep::Transaction(_) => "together",
            MigrationStep::ConcurrentIndex(_) => "concurrently",
            MigrationStep::Batches(_) => "batches",
        };
        parse_script("0005", sql).unwrap().steps.iter().map(kind).collect()
    }

    fn assert_refused(sql: &str, part: &str) {
        let why = parse_script("0005", sql).unwrap_err();
        assert!(why.contains(part), "`{why}` does not say `{part}`");
    }

    #[test]
    fn a_script_without_directives_is_one_transaction() {
        let script =
            parse_script("0005", "-- About it.\n\nCREATE TABLE a (b int);\nCREATE TABLE c (d int);").unwrap();
        assert_eq!((script.steps.len(), script.floor.as_str()), (1, "0005"));
    }

    #[test]
    fn directives_start_steps() {
        let sql = "-- guerdon: floor 0003\n-- About it.\nALTER TABLE a ADD b int;\n\
                   -- guerdon: outside a transaction\n-- For the lists.\n\
                   CREATE UNIQUE INDEX CONCURRENTLY i ON a (b);\n\
                   --guerdon: in batches of a by id\nUPDATE a SET b = 1\nWHERE :batch AND b IS NULL;\n\
                   -- guerdon: outside a transaction\nDROP INDEX CONCURRENTLY IF EXISTS i;\n\
                   -- guerdon: in a transaction\nALTER TABLE a ADD c int;\nALTER TABLE a ADD d int;\n";
        assert_eq!(step_kinds(sql), ["together", "concurrently", "batches", "concurrently", "together"]);
        let script = parse_script("0005", sql).unwrap();
        assert_eq!(script.floor, "0003");
        let MigrationStep::Batches(batches) = &script.steps[2] else { panic!("{script:?}") };
        assert_eq!(batches.for_range("id > 7"), "UPDATE a SET b = 1\nWHERE (id > 7) AND b IS NULL;");
        let MigrationStep::ConcurrentIndex(index) = &script.steps[1] else { panic!("{script:?}") };
        assert_eq!(index.created_index.as_deref(), Some("i"));
        let structure = script.schema_sql();
        assert!(structure.contains("CREATE UNIQUE INDEX i ON a (b);"), "{structure}");
        assert!(!structure.contains("UPDATE") && !structure.contains("CONCURRENTLY"), "{structure}");
    }

    #[test]
    fn invalid_scripts_are_refused() {
        assert_refused("-- guerdon: in a batch\nUPDATE a SET b = 1;", "in a batch");
        assert_refused("-- guerdon: floor 6\nSELECT 1;", "floor 6");
        assert_refused("-- guerdon: floor 0006\nSELECT 1;", "above 0005");
        assert_refused("-- guerdon: floor 0003\n-- guerdon: floor 0003\nSELECT 1;", "given twice");
        assert_refused("-- only words\n", "no statement");
        assert_refused("SELECT 1;\n-- guerdon: in batches of a by id\n-- nothing\n", "no statement");
        assert_refused(
            "-- guerdon: in batches of a by id\nUPDATE a SET b = 1 WHERE :batch;\nSELECT 1;",
            "a single statement",
        );
        assert_refused(
            "-- guerdon: in batches of a by id\nUPDATE a SET b = 1 WHERE :batch",
            "a single statement",
        );
        assert_refused("-- guerdon: in batches of a by id\nUPDATE a SET b = 1;", ":batch");
        let quoted = "-- guerdon: in batches of a by id\nUPDATE a SET b = ';' WHERE :batch;";
        assert_eq!(step_kinds(quoted), ["batches"]);
        assert_refused("-- guerdon: outside a transaction\nCREATE INDEX i ON a (b);", "CONCURRENTLY");
        assert_refused("-- guerdon: outside a transaction\nDROP INDEX CONCURRENTLY i;", "IF EXISTS");
        assert!(parse_script("5", "SELECT 1;").is_err());
    }
}
