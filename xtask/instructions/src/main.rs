//! The hot paths, run so many times: `cargo xtask instructions` counts what the processor does for each.

mod scene;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Parser, ValueEnum};
use guerdon_domain::memory::Memory;
use guerdon_domain::money::Points;
use guerdon_domain::ports::{Posting, PostingEnd, Store, StoreError, StoreExt as _, Verdict};
use guerdon_domain::values::Page;
use guerdon_domain::wallets::{Account, WalletType};
use guerdon_domain::{recognitions, redemptions};
use guerdon_persistence::{Access, DatabaseUrl, migrate, open};

use self::scene::Scene;

/// The first few have the other threads open the connections of the pools, which is counted too: they are waited for.
const WARM_UP: u32 = 10;
const SETTLE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, ValueEnum)]
enum Path {
    /// A recognition to one user: the use case alone, on the store in memory
    Recognition,
    /// One to ten users
    RecognitionToTen,
    /// A redemption
    Redemption,
    /// A recognition on the embedded database, from the request's thread to its commit
    SqliteRecognition,
    /// A user on the embedded database
    SqliteUser,
    /// A user's balances on the embedded database
    SqliteBalances,
    /// A page of a hundred transactions on the embedded database
    SqliteTransactions,
}

/// Runs a hot path so many times
#[derive(Parser)]
struct Arguments {
    path: Path,
    times: u32,
    /// Where an embedded database goes; the folder is empty
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
            recognitions::send(tx, scene.provider, &scene.thanks(1)?, &scene.context())?;
            Ok(())
        }),
        Path::RecognitionToTen => in_memory(times, |tx, scene| {
            recognitions::send(tx, scene.provider, &scene.thanks(10)?, &scene.context())?;
            Ok(())
        }),
        Path::Redemption => in_memory(times, |tx, scene| {
            let one = Points::new(1).context("a point")?;
            redemptions::create(tx, scene.sender, one, &scene.context())?;
            Ok(())
        }),
        Path::SqliteRecognition => on_sqlite(arguments, send),
        Path::SqliteUser => on_sqlite(arguments, |store, scene| {
            at_once(store, |reads| reads.user(scene.provider, scene.sender).map(drop))
        }),
        Path::SqliteBalances => on_sqlite(arguments, |store, scene| {
            at_once(store, |reads| reads.balances(scene.provider, scene.sender).map(drop))
        }),
        Path::SqliteTransactions => on_sqlite(arguments, |store, scene| {
            let page = Page::new(1, 100).context("a page")?;
            let found = store.glancing(|reads| {
                reads.transactions(Account::Wallet(WalletType::Peer, scene.sender), page)
            })?;
            ensure!(found.len() == 100, "a page that is not full");
            Ok(())
        }),
    }
}

/// All in one unit of work, which copies what there is once.
fn in_memory(
    times: u32,
    mut work: impl FnMut(&mut guerdon_domain::memory::Unit, &Scene) -> Result<()>,
) -> Result<()> {
    let store = Memory::default();
    let scene = store.transaction(Scene::create)?;
    store.transaction(|tx| -> Result<()> { (0..times).try_for_each(|_| work(tx, &scene)) })
}

fn on_sqlite(
    arguments: &Arguments,
    mut work: impl FnMut(&dyn Store, &Arc<Scene>) -> Result<()>,
) -> Result<()> {
    let url = DatabaseUrl::Sqlite(arguments.folder.join("guerdon.db"));
    migrate(&url)?;
    let store = open(&url, Access::Serve)?;
    let scene = Arc::new(store.transaction(|tx| Scene::create(tx))?);
    if matches!(arguments.path, Path::SqliteTransactions) {
        (0..100).try_for_each(|_| send(store.as_ref(), &scene))?;
    }
    for _ in 0..WARM_UP {
        work(store.as_ref(), &scene)?;
        std::thread::sleep(SETTLE);
    }
    (0..arguments.times).try_for_each(|_| work(store.as_ref(), &scene))
}

/// As a request does it.
fn send(store: &dyn Store, scene: &Arc<Scene>) -> Result<()> {
    let (its, thanks) = (Arc::clone(scene), scene.thanks(1)?);
    let (tell, told) = channel();
    let posting = Posting {
        work: Box::new(move |tx| match recognitions::send(tx, its.provider, &thanks, &its.context()) {
            Ok(_sent) => Verdict::Commit,
            Err(_refused) => Verdict::Rollback,
        }),
        told: Box::new(move |end| tell.send(end).unwrap_or_default()),
    };
    ensure!(store.take_over(posting).is_none(), "the store took nothing over");
    match told.recv()? {
        PostingEnd::Ended(end) => Ok(end?),
        PostingEnd::Alone(_) => bail!("it did not run with others"),
    }
}

fn at_once(
    store: &dyn Store,
    mut read: impl FnMut(&mut dyn guerdon_domain::ports::Reads) -> Result<(), StoreError>,
) -> Result<()> {
    let mut done = Ok(());
    store.glance_at_once(&mut |reads| done = read(reads)).context("it was not read at once")??;
    Ok(done?)
}
