//! `cargo xtask migration`: creates migrations, and proves on temporary databases that they can be applied and
//! reverted.

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use anyhow::{Context, Result, bail, ensure};
use clap::Subcommand;
use guerdon_test_harness::guerdon_command;

use crate::postgres::Cluster;
use crate::workspace::{Workspace, command_output, list_subfolders, run_command};

/// Any key is suitable, because nothing that it encrypts outlives the command.
const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The head comment of a new up.sql.
const SQLITE_UP: &str = "\
-- guerdon: floor NNNN
-- The floor is the oldest program, by its newest migration, that works with this schema. Lower it if older ones do.
-- All missing migrations run in one transaction, without foreign keys, which are checked at its end.

";
const POSTGRES_UP: &str = "\
-- guerdon: floor NNNN
-- The floor is the oldest program, by its newest migration, that works with this schema. Lower it if older ones do.
-- Other programs use the database during the migration. Without further directives, the file runs in one transaction,
-- which is retried if a lock is not available: change at most one big table in it, and do not rewrite or scan the table.
-- To do more, divide the file into steps, each under one of these lines:
--   `-- guerdon: in a transaction`, the default;
--   `-- guerdon: outside a transaction`, for one CREATE INDEX CONCURRENTLY or DROP INDEX CONCURRENTLY IF EXISTS;
--   `-- guerdon: in batches of TABLE by KEY`, for one UPDATE … WHERE :batch AND …, which runs for one range at a time.

";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create migrations/{sqlite,postgres}/NNNN_name/{up,down}.sql to fill in
    New {
        /// Name in lower case, such as add_mailbox
        name: String,
    },
    /// Run `guerdon migrate` on a temporary SQLite file and a temporary PostgreSQL
    Run,
    /// Prove on a temporary SQLite file and a temporary PostgreSQL that the newest migration is reversible
    ///
    /// Applies every up.sql but the newest, then the newest up.sql, its down.sql, which must restore the previous
    /// schema, and its up.sql again. No other database is touched, and no command reverts a migration there. Needs
    /// python3 for SQLite and psql for PostgreSQL.
    Revert,
}

pub(crate) fn run(workspace: &Workspace, command: &Command) -> Result<()> {
    match command {
        Command::New { name } => create_migration(workspace, name),
        Command::Run => migrate_both(workspace),
        Command::Revert => revert_both(workspace),
    }
}

fn create_migration(workspace: &Workspace, name: &str) -> Result<()> {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    ensure!(
        name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(plain),
        "a name is lower-case words joined by `_`, such as add_mailbox"
    );
    let folders = ["sqlite", "postgres"].map(|database| workspace.root.join("migrations").join(database));
    let mut newest = 0;
    for folder in &folders {
        newest = list_subfolders(folder)?
            .iter()
            .filter_map(|migration| migration_number(migration))
            .fold(newest, u32::max);
    }
    let version = format!("{:04}", newest + 1);
    for (folder, up) in folders.iter().zip([SQLITE_UP, POSTGRES_UP]) {
        let migration = folder.join(format!("{version}_{name}"));
        std::fs::create_dir_all(&migration)?;
        for (file, text) in [("up.sql", up.replace("NNNN", &version)), ("down.sql", String::new())] {
            let path = migration.join(file);
            std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            println!("{}", path.strip_prefix(&workspace.root)?.display());
        }
    }
    Ok(())
}

fn migration_number(migration: &Path) -> Option<u32> {
    migration.file_name()?.to_str()?.split_once('_')?.0.parse().ok()
}

fn migrate_both(workspace: &Workspace) -> Result<()> {
    let program = workspace.build_guerdon()?;
    let folder = tempfile::tempdir()?;
    let migrate = |url: Option<String>| {
        let mut command = guerdon_command(&program);
        command.arg("migrate").env("GUERDON_DATA_DIR", folder.path()).current_dir(folder.path());
        match url {
            Some(url) => command.env("GUERDON_DATABASE__URL", url).env("GUERDON_MASTER_KEY", MASTER_KEY),
            None => command.env_remove("GUERDON_MASTER_KEY"),
        };
        run_command(&mut command)
    };
    migrate(None).context("on SQLite")?;
    println!("SQLite: migrated");
    let cluster = Cluster::start(workspace)?;
    migrate(Some(cluster.create_database("migrated")?)).context("on PostgreSQL")?;
    println!("PostgreSQL: migrated");
    Ok(())
}

fn revert_both(workspace: &Workspace) -> Result<()> {
    let migrations = workspace.root.join("migrations");
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("guerdon.db");
    let name =
        apply_and_revert(&migrations.join("sqlite"), &|sql| run_sqlite(&file, sql)).context("on SQLite")?;
    println!("SQLite: applied, reverted and reapplied {name}");

    let cluster = Cluster::start(workspace)?;
    let url = cluster.create_database("reverted")?;
    let psql = |sql: &str| cluster.run_sql(&url, if sql.is_empty() { POSTGRES_SCHEMA } else { sql });
    let name = apply_and_revert(&migrations.join("postgres"), &psql).context("on PostgreSQL")?;
    println!("PostgreSQL: applied, reverted and reapplied {name}");
    Ok(())
}

/// Applies the newest migration, reverts it and applies it again. `database` runs SQL; given an empty string, it
/// returns the schema.
fn apply_and_revert(folder: &Path, database: &dyn Fn(&str) -> Result<String>) -> Result<String> {
    let migrations = list_subfolders(folder)?;
    let Some((newest, earlier)) = migrations.split_last() else {
        bail!("there is no migration in {}", folder.display());
    };
    let apply = |file: PathBuf| -> Result<()> {
        let sql = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let is_empty = |line: &str| line.trim().is_empty() || line.trim().starts_with("--");
        ensure!(!sql.lines().all(is_empty), "{} is empty", file.display());
        // Here the file runs in one transaction, in which no index can be created concurrently.
        let sql = sql.replace(" CONCURRENTLY", "").replace(":batch", "TRUE");
        database(&sql).with_context(|| format!("running {}", file.display()))?;
        Ok(())
    };
    for migration in earlier {
        apply(migration.join("up.sql"))?;
    }
    let before = database("")?;
    apply(newest.join("up.sql"))?;
    let applied = database("")?;
    apply(newest.join("down.sql"))?;
    let reverted = database("")?;
    ensure!(
        reverted == before,
        "down.sql does not restore the schema:\nbefore:\n{before}\nafter:\n{reverted}"
    );
    apply(newest.join("up.sql"))?;
    ensure!(database("")? == applied, "up.sql creates a different schema the second time");
    Ok(newest.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
}

/// The schema is compared without whitespace and quotes, which SQLite writes differently for a recreated table.
const SQLITE_SCRIPT: &str = r#"
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
sql = sys.stdin.read()
if sql:
    database.executescript(sql)
else:
    for kind, name, text in database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name"):
        print(kind, name, "".join((text or "").replace('"', "").split()))
"#;

const POSTGRES_SCHEMA: &str = "
    SELECT 'column', table_name, column_name, data_type, is_nullable, column_default
    FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 2, 3;
    SELECT 'index', indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 2;
    SELECT 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 2, 3;
    SELECT 'trigger', tgrelid::regclass, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 2, 3;
    SELECT 'function', proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 2, 3;
    SELECT 'type', typname FROM pg_type WHERE typnamespace = 'public'::regnamespace ORDER BY 2;
    SELECT 'relation', relkind, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 2, 3;
";

fn run_sqlite(file: &Path, sql: &str) -> Result<String> {
    let input = file.with_extension("sql");
    std::fs::write(&input, sql)?;
    let mut python = Process::new("python3");
    python.args(["-c", SQLITE_SCRIPT]).arg(file).stdin(std::fs::File::open(&input)?);
    command_output(&mut python)
}
