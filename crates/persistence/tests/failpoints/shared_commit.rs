//! Faults between units of work that share a commit on SQLite: either both take effect, or none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use guerdon_domain::ports::{StoreError, StoreExt as _, Tx};
use guerdon_domain::users::{self, Profile};
use guerdon_domain::values::{EmailAddress, SingleLine};
use guerdon_persistence::testing::{
    FAILPOINTS, Failpoint, Fault, Place, clear_all, covers_sqlite, create_sqlite, inject,
};

use super::child::{kill_this_process, received_task, run_killed_child, run_passing_child};
use super::kill::{ids_to_text, open_fixture};
use super::{count_hits, count_rows, survivable_faults};
use crate::support::LedgerFixture;

/// The failpoint that is passed only by a unit that joins another one's commit.
const JOINED: &str = "sqlite.savepoint";

/// The failpoint after a commit: its units have taken effect, but their callers get an error.
const COMMITTED: &str = "sqlite.committed";

/// What the killed child prints before each pair of units.
const PAIR: &str = "pair ";

/// The hits of `JOINED` before the two units that share a commit.
static JOINED_BEFORE: AtomicUsize = AtomicUsize::new(0);

/// The failpoints of a shared commit: of the savepoint, of its release, and of the commit itself.
fn shared_commit_failpoints() -> impl Iterator<Item = &'static Failpoint> {
    FAILPOINTS
        .iter()
        .filter(|point| point.place == Place::SharedCommit || point.name.starts_with("sqlite.commit"))
}

/// Whether the second of the two units has joined the commit of the first one.
fn is_shared() -> bool {
    count_hits(JOINED) > JOINED_BEFORE.load(Ordering::SeqCst)
}

fn kill_if_shared() {
    if is_shared() {
        kill_this_process();
    }
}

fn create_user(fixture: &LedgerFixture, tx: &mut dyn Tx, name: &str) -> Result<(), StoreError> {
    let email = EmailAddress::parse(&format!("{name}@example.com")).unwrap();
    let profile = Profile::with_name(email, SingleLine::parse(name).unwrap(), None);
    let created = users::create(tx, fixture.provider, fixture.company, &profile, &fixture.context());
    created.map(drop).map_err(|cause| StoreError::Broken(cause.to_string()))
}

/// Runs two units of work in one commit. The first one waits until the second one waits for the writer. Returns
/// whether each succeeded.
fn run_two_units(fixture: &LedgerFixture, tag: &str, start_fault: &dyn Fn()) -> (bool, bool) {
    let create = |name: &str, before: &mut dyn FnMut()| {
        let work = |tx: &mut dyn Tx| {
            before();
            create_user(fixture, tx, &format!("{name}-{tag}"))
        };
        catch_unwind(AssertUnwindSafe(|| fixture.store.transaction(work))).is_ok_and(|result| result.is_ok())
    };
    std::thread::scope(|scope| {
        let mut second = None;
        let first = create("first", &mut || {
            start_fault();
            JOINED_BEFORE.store(count_hits(JOINED), Ordering::SeqCst);
            let waits_before = count_hits("sqlite.wait");
            second = Some(scope.spawn(|| create("second", &mut || {})));
            while count_hits("sqlite.wait") == waits_before {
                std::thread::yield_now();
            }
        });
        (first, second.unwrap().join().unwrap())
    })
}

/// Injects a fault while two units of work share a commit. Returns `None` if they did not, because the first one took
/// too long.
fn check_fault(fixture: &LedgerFixture, tag: &str, failpoint: &str, fault: Fault) -> Option<()> {
    let before = fixture.database.count_rows("users");
    let ended = run_two_units(fixture, tag, &|| inject(failpoint, fault).unwrap());
    clear_all();
    if !is_shared() {
        return None;
    }
    let is_committed = failpoint == COMMITTED;
    let added = fixture.database.count_rows("users") - before;
    assert_eq!((ended, added), ((false, false), if is_committed { 2 } else { 0 }), "{failpoint}: {fault:?}");
    // If the first run was committed, its users exist, so the second run is refused.
    let ended = run_two_units(fixture, tag, &|| ());
    assert_eq!(ended, (!is_committed, !is_committed), "{failpoint}: {fault:?}");
    assert_eq!(fixture.database.count_rows("users") - before, 2);
    Some(())
}

#[test]
fn child_checks_shared_commits() {
    let Some(_task) = received_task() else { return };
    let fixture = LedgerFixture::new(create_sqlite());
    for failpoint in shared_commit_failpoints() {
        for (number, fault) in survivable_faults(failpoint).into_iter().enumerate() {
            let mut tries = 0..100;
            let mut next_tag = || Some(format!("{}-{number}-{}", failpoint.name, tries.next()?));
            while check_fault(&fixture, &next_tag().unwrap(), failpoint.name, fault).is_none() {}
        }
    }
    assert_eq!(fixture.audit_ledger(), []);
}

#[test]
fn after_a_fault_in_a_shared_commit_all_of_its_units_are_kept_or_none() {
    if covers_sqlite() {
        run_passing_child("failpoints::shared_commit::child_checks_shared_commits", &[]);
    }
}

#[test]
fn child_is_killed_in_a_shared_commit() {
    let Some(task) = received_task() else { return };
    let fixture = open_fixture(&task["url"], &task["ids"], "1");
    let fault = Fault::Kills { passes: 0, kill: kill_if_shared };
    for number in 0..100 {
        println!("{PAIR}{number}");
        run_two_units(&fixture, &number.to_string(), &|| inject(&task["failpoint"], fault).unwrap());
        clear_all(); // the two units did not share a commit
    }
    panic!("not killed");
}

#[test]
fn after_a_kill_in_a_shared_commit_all_of_its_units_are_kept_or_none() {
    if !covers_sqlite() {
        return;
    }
    for failpoint in shared_commit_failpoints() {
        let fixture = LedgerFixture::new(create_sqlite());
        let ids = ids_to_text(&fixture.fixture_ids());
        let database = fixture.close();
        let task = [("url", database.url.as_str()), ("ids", &ids), ("failpoint", failpoint.name)];
        let child = "failpoints::shared_commit::child_is_killed_in_a_shared_commit";
        let printed = run_killed_child(child, &task);
        let pairs_before = printed.lines().filter(|line| line.contains(PAIR)).count() - 1;
        let reopened = open_fixture(&database.url, &ids, "2");
        let committed = pairs_before + usize::from(failpoint.name == COMMITTED);
        assert_eq!(count_rows(&reopened, "users"), 1 + 2 * committed, "{}", failpoint.name); // and the owner
        assert_eq!(reopened.audit_ledger(), []);
    }
}
