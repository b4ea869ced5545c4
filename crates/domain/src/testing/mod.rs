//! What every store must do for the use cases of [`Ledger`]: one suite of cases for the one in memory and those in the
//! databases.
//!
//! Whoever has a store writes a [`Bench`] for it and calls [`run`]. To add a case: a function in the file of what it is
//! about, and its line in that file's `CASES`.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a case fails by panicking"
)]

mod accounts;
mod companies;
mod occasions;
mod payments;
mod recognitions;
mod reserves;
mod units;
mod users;
mod world;

use crate::events::EventKind;
use crate::ports::{Ledger, StoreError, Verdict};
use world::World;

/// A store of a case's own, empty at first.
pub trait Bench {
    /// Runs `work` in one unit of work, as [`Store::run`](crate::ports::Store::run) does.
    fn run(&self, work: &mut dyn FnMut(&mut dyn Ledger) -> Verdict) -> Result<(), StoreError>;

    /// How many events of a kind were queued.
    fn events(&self, kind: EventKind) -> usize;

    /// How many mails were queued to an address.
    fn mails(&self, recipient: &str) -> usize;

    /// What the store finds wrong with what a case left behind; nothing where it does not look.
    fn violations(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A case and the sentence that it proves.
type Case = (&'static str, fn(&World<'_>));

/// Runs every case on a bench of its own; answers how many. The last name on stderr is that of the case that failed.
pub fn run<B: Bench>(make: impl Fn() -> B) -> usize {
    let suites = [
        companies::CASES,
        users::CASES,
        occasions::CASES,
        recognitions::CASES,
        accounts::CASES,
        payments::CASES,
        reserves::CASES,
        units::CASES,
    ];
    for (name, case) in suites.into_iter().flatten() {
        eprintln!("{name}");
        let bench = make();
        case(&World::new(&bench));
        assert_eq!(bench.violations(), Vec::<String>::new(), "{name}");
    }
    suites.into_iter().map(<[Case]>::len).sum()
}
