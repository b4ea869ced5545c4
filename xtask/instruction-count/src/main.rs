//! Runs a hot path a given number of times. `cargo xtask instruction-count` counts the processor instructions of each.

mod fixture;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, ValueEnum};
use guerdon_domain::commands::{BlockingCommandQueue, Command};
use guerdon_domain::decide::execute_command;
use guerdon_domain::memory::MemoryStore;
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::{Consistency, Notifiers, ReadTx, StoreError, StoreExt as _};
use guerdon_domain::redemptions::Redeem;
use guerdon_domain::values::Page;
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::{Access, DatabaseUrl, OpenDatabase, migrate, open_with_notifiers};

use self::fixture::Fixture;

/// The number of runs before those that are requested. In these runs, other threads open the connections of the pools.
/// valgrind counts the instructions of these threads too, so the program pauses after each run to let them finish.
const WARM_UP: u32 = 10;
const WARM_UP_PAUSE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, ValueEnum)]
enum HotPath {
    /// A recognition to one user: the use case alone, on the store in memory
    Recognition,
    /// A recognition from one user to ten
    RecognitionToTen,
    /// A redemption
    Redemption,
    /// A recognition on the embedded database, from the request's thread to the commit
    SqliteRecognition,
    /// A recognition from one user to ten on the embedded database
    SqliteRecognitionToTen,
    /// Reading a user on the embedded database
    SqliteUser,
    /// Reading a user's balances on the embedded database
    SqliteBalances,
    /// Reading a page of a hundred transactions on the embedded database
    SqliteTransactions,
}

/// Run a hot path a number of times
#[derive(Parser)]
struct Arguments {
    path: HotPath,
    times: u32,
    /// An empty folder for the embedded database
    folder: PathBuf,
}

fn main() -> ExitCode {
    match run_path(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_path(arguments: &Arguments) -> Result<()> {
    let times = arguments.times;
    match arguments.path {
        HotPath::Recognition => run_in_memory(times, |tx, fixture| {
            execute_command(tx, fixture.provider, &fixture.recognition_to(1)?, &fixture.context())?;
            Ok(())
        }),
        HotPath::RecognitionToTen => run_in_memory(times, |tx, fixture| {
            execute_command(tx, fixture.provider, &fixture.recognition_to(10)?, &fixture.context())?;
            Ok(())
        }),
        HotPath::Redemption => run_in_memory(times, |tx, fixture| {
            let sum = Sum::Points(Points::new(1).context("a point")?);
            execute_command(
                tx,
                fixture.provider,
                &Redeem { user_id: fixture.sender, sum },
                &fixture.context(),
            )?;
            Ok(())
        }),
        HotPath::SqliteRecognition => {
            run_on_sqlite(arguments, |opened, fixture| send_recognition(opened, fixture, 1))
        }
        HotPath::SqliteRecognitionToTen => {
            run_on_sqlite(arguments, |opened, fixture| send_recognition(opened, fixture, 10))
        }
        HotPath::SqliteUser => run_on_sqlite(arguments, |opened, fixture| {
            read_without_waiting(opened, |reads| reads.find_user(fixture.provider, fixture.sender).map(drop))
        }),
        HotPath::SqliteBalances => run_on_sqlite(arguments, |opened, fixture| {
            read_without_waiting(opened, |reads| {
                reads.find_balances(fixture.provider, fixture.sender).map(drop)
            })
        }),
        HotPath::SqliteTransactions => run_on_sqlite(arguments, |opened, fixture| {
            let page = Page::new(1, 100).context("a page")?;
            let found = opened.requests.read_with(Consistency::PerStatement, |reads| {
                reads.list_transactions(Account::Wallet(WalletType::Peer, fixture.sender), page)
            })?;
            ensure!(found.len() == 100, "a page that is not full");
            Ok(())
        }),
    }
}

/// Runs everything in one unit of work, which copies the store once.
fn run_in_memory(
    times: u32,
    mut work: impl FnMut(&mut guerdon_domain::memory::MemoryTx, &Fixture) -> Result<()>,
) -> Result<()> {
    let store = MemoryStore::default();
    let fixture = store.transaction(Fixture::create)?;
    store.transaction(|tx| -> Result<()> { (0..times).try_for_each(|_| work(tx, &fixture)) })
}

fn run_on_sqlite(
    arguments: &Arguments,
    mut work: impl FnMut(&OpenDatabase, &Arc<Fixture>) -> Result<()>,
) -> Result<()> {
    let url = DatabaseUrl::Sqlite(arguments.folder.join("guerdon.db"));
    migrate(&url)?;
    let opened = open_with_notifiers(&url, Access::Serve, Notifiers::default())?;
    let fixture = Arc::new(opened.requests.transaction(|tx| Fixture::create(tx))?);
    if matches!(arguments.path, HotPath::SqliteTransactions) {
        (0..100).try_for_each(|_| send_recognition(&opened, &fixture, 1))?;
    }
    for _ in 0..WARM_UP {
        work(&opened, &fixture)?;
        std::thread::sleep(WARM_UP_PAUSE);
    }
    (0..arguments.times).try_for_each(|_| work(&opened, &fixture))
}

/// Sends a recognition as a request does.
fn send_recognition(opened: &OpenDatabase, fixture: &Arc<Fixture>, receivers: usize) -> Result<()> {
    let commands = BlockingCommandQueue {
        queue: Arc::clone(&opened.commands),
        context_sources: fixture.context_sources(),
    };
    let by = fixture.context().requester.clone();
    commands.execute_command(
        fixture.provider,
        &by,
        Command::SendRecognition(fixture.recognition_to(receivers)?),
    )?;
    Ok(())
}

fn read_without_waiting(
    opened: &OpenDatabase,
    read: impl FnMut(&mut dyn ReadTx) -> Result<(), StoreError>,
) -> Result<()> {
    Ok(opened.requests.read_with(Consistency::PerStatementNoWait, read)?)
}
