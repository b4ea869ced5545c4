//! Runs a hot path a given number of times. `cargo xtask instructions` counts the processor instructions of each.

mod scene;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, ValueEnum};
use guerdon_domain::commands::{Command, Commands};
use guerdon_domain::decide::carry_out;
use guerdon_domain::memory::Memory;
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::{Consistency, Reads, StoreError, StoreExt as _, Wakes};
use guerdon_domain::redemptions::Redeem;
use guerdon_domain::values::Page;
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_persistence::{Access, DatabaseUrl, Opened, migrate, open_waking};

use self::scene::Scene;

/// The first runs make other threads open the connections of the pools. These connections are counted too, so the
/// program waits for them.
const WARM_UP: u32 = 10;
const SETTLE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, ValueEnum)]
enum Path {
    /// A recognition to one user: the use case alone, on the store in memory
    Recognition,
    /// A recognition from one user to ten
    RecognitionToTen,
    /// A redemption
    Redemption,
    /// A recognition on the embedded database, from the request's thread to the commit
    SqliteRecognition,
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
    path: Path,
    times: u32,
    /// An empty folder for the embedded database
    folder: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("error: {cause:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let times = arguments.times;
    match arguments.path {
        Path::Recognition => in_memory(times, |tx, scene| {
            carry_out(tx, scene.provider, &scene.thanks(1)?, &scene.context())?;
            Ok(())
        }),
        Path::RecognitionToTen => in_memory(times, |tx, scene| {
            carry_out(tx, scene.provider, &scene.thanks(10)?, &scene.context())?;
            Ok(())
        }),
        Path::Redemption => in_memory(times, |tx, scene| {
            let sum = Sum::Points(Points::new(1).context("a point")?);
            carry_out(tx, scene.provider, &Redeem { user_id: scene.sender, sum }, &scene.context())?;
            Ok(())
        }),
        Path::SqliteRecognition => on_sqlite(arguments, send),
        Path::SqliteUser => on_sqlite(arguments, |opened, scene| {
            read_without_waiting(opened, |reads| reads.user(scene.provider, scene.sender).map(drop))
        }),
        Path::SqliteBalances => on_sqlite(arguments, |opened, scene| {
            read_without_waiting(opened, |reads| reads.balances(scene.provider, scene.sender).map(drop))
        }),
        Path::SqliteTransactions => on_sqlite(arguments, |opened, scene| {
            let page = Page::new(1, 100).context("a page")?;
            let found = opened.requests.read_with(Consistency::PerStatement, |reads| {
                reads.transactions(Account::Wallet(WalletType::Peer, scene.sender), page)
            })?;
            ensure!(found.len() == 100, "a page that is not full");
            Ok(())
        }),
    }
}

/// Runs everything in one unit of work, which copies the store once.
fn in_memory(
    times: u32,
    mut work: impl FnMut(&mut guerdon_domain::memory::Unit, &Scene) -> Result<()>,
) -> Result<()> {
    let store = Memory::default();
    let scene = store.transaction(Scene::create)?;
    store.transaction(|tx| -> Result<()> { (0..times).try_for_each(|_| work(tx, &scene)) })
}

fn on_sqlite(arguments: &Arguments, mut work: impl FnMut(&Opened, &Arc<Scene>) -> Result<()>) -> Result<()> {
    let url = DatabaseUrl::Sqlite(arguments.folder.join("guerdon.db"));
    migrate(&url)?;
    let opened = open_waking(&url, Access::Serve, Wakes::default())?;
    let scene = Arc::new(opened.requests.transaction(|tx| Scene::create(tx))?);
    if matches!(arguments.path, Path::SqliteTransactions) {
        (0..100).try_for_each(|_| send(&opened, &scene))?;
    }
    for _ in 0..WARM_UP {
        work(&opened, &scene)?;
        std::thread::sleep(SETTLE);
    }
    (0..arguments.times).try_for_each(|_| work(&opened, &scene))
}

/// Sends a recognition as a request does.
fn send(opened: &Opened, scene: &Arc<Scene>) -> Result<()> {
    let commands = Commands { queue: Arc::clone(&opened.commands), surroundings: scene.surroundings() };
    let by = scene.context().origin.into();
    commands.carry_out(scene.provider, &by, Command::SendRecognition(scene.thanks(1)?))?;
    Ok(())
}

fn read_without_waiting(
    opened: &Opened,
    read: impl FnMut(&mut dyn Reads) -> Result<(), StoreError>,
) -> Result<()> {
    Ok(opened.requests.read_with(Consistency::PerStatementNoWait, read)?)
}
