//! `kill -9` at each step of a command. Each process checks what the previous one left, and is then killed itself.
//!
//! A journal file has the acknowledgements that clients had received before the kill.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use guerdon_domain::values::{CompanyId, OccasionId, ProviderId, UserId};
use guerdon_persistence::testing::{Failpoint, Fault, TestDatabase, inject};

use super::child::{kill_this_process, received_task, run_child_that_may_be_killed, run_passing_child};
use super::commands::{PLACES_ON_POSTGRES, PLACES_ON_SQLITE};
use super::run::{Acknowledged, Run};
use super::test_command::{Mix, Size, Users};
use super::{covers_all_statements, failpoints_at};
use crate::support::{FixtureIds, LedgerFixture, create_database};

/// The test that the child processes run.
const CHILD: &str = "failpoints::kill::child_is_killed_while_it_executes_commands";

/// The failpoint that every statement of a command passes.
const STATEMENT: &str = "unit.query";

/// How many passes of a failpoint precede the kill.
fn passes_before_kill(failpoint: &Failpoint) -> &'static [usize] {
    match failpoint.name {
        STATEMENT => &[0, 7, 21, 35],
        "sqlite.insert.recognitions" | "sqlite.insert.transfers" | "sqlite.update.accounts" => &[0, 2],
        _ => &[0],
    }
}

pub fn ids_to_text(ids: &FixtureIds) -> String {
    let FixtureIds { provider, company, owner, occasion } = ids;
    format!("{provider},{company},{owner},{occasion}")
}

/// Opens the database of a task.
pub fn open_fixture(url: &str, ids: &str, generation: &str) -> LedgerFixture {
    let ids: Vec<uuid::Uuid> = ids.split(',').map(|id| uuid::Uuid::parse_str(id).unwrap()).collect();
    let [provider, company, owner, occasion] = ids[..] else { panic!("{ids:?}") };
    let ids = FixtureIds {
        provider: ProviderId::from_uuid(provider),
        company: CompanyId::from_uuid(company),
        owner: UserId::from_uuid(owner),
        occasion: OccasionId::from_uuid(occasion),
    };
    let database = TestDatabase::of_another_process(url.to_owned());
    LedgerFixture::reopen(database, &ids, generation.parse().unwrap())
}

fn append_line(journal: &Path, line: &str) {
    let file = OpenOptions::new().append(true).create(true).open(journal);
    file.unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn size_from_text(text: &str) -> Size {
    Size::ALL.into_iter().find(|size| format!("{size:?}") == text).unwrap()
}

/// Checks the run of a process that was killed.
fn check_journal(fixture: &LedgerFixture, journal: &Path) {
    let text = std::fs::read_to_string(journal).unwrap();
    let mut lines = text.lines();
    let mut header = || lines.next().unwrap();
    let (tag, size) = (header(), size_from_text(header()));
    let mix = Mix::for_failpoint(header(), size);
    let (users, before) = (Users::from_text(header()), header());
    let acknowledged: Acknowledged = lines
        .filter_map(|line| line.split_once('='))
        .map(|(key, body)| (key.to_owned(), body.to_owned()))
        .collect();
    Run::resume(fixture, &users, (tag, size, mix), before).retry_and_check(&acknowledged);
}

#[test]
fn child_is_killed_while_it_executes_commands() {
    let Some(task) = received_task() else { return };
    let generation = &task["generation"];
    let fixture = open_fixture(&task["url"], &task["ids"], generation);
    let folder = Path::new(&task["folder"]);
    if let Some(previous) = task.get("previous") {
        check_journal(&fixture, &folder.join(previous));
    }
    let Some(failpoint) = task.get("failpoint") else { return };
    let size = size_from_text(&task["size"]);
    let mix = Mix::for_failpoint(failpoint, size);
    let users = Users::from_text(&task["users"]).with_unchanged_objects(&fixture, generation);
    let run = Run::prepare(&fixture, &users, generation, size, mix);
    let journal = folder.join(generation);
    for line in [generation, &format!("{size:?}"), failpoint, &users.to_text(), &run.rows_before()] {
        append_line(&journal, line);
    }
    let passes = task["passes"].parse().unwrap();
    let start = || inject(failpoint, Fault::Kills { passes, kill: kill_this_process }).unwrap();
    run.execute(&start, &mut |key, body| append_line(&journal, &format!("{key}={body}")));
    // The process was not killed: it has at most `passes` passes.
}

/// Processes that use one database one after the other. Each is killed.
struct KilledProcesses {
    /// The task of each process: the database and the users.
    common: Vec<(&'static str, String)>,
    generation: usize,
    _database: TestDatabase,
    _folder: tempfile::TempDir,
}

impl KilledProcesses {
    fn new(is_embedded: bool) -> Self {
        let fixture = LedgerFixture::new(create_database(is_embedded));
        let ids = ids_to_text(&fixture.fixture_ids());
        let users = Users::create(&fixture, "all").to_text();
        let database = fixture.close();
        let folder = tempfile::tempdir().unwrap();
        let folder_name = folder.path().to_str().unwrap().to_owned();
        let common =
            vec![("url", database.url.clone()), ("ids", ids), ("users", users), ("folder", folder_name)];
        Self { common, generation: 0, _database: database, _folder: folder }
    }

    /// Runs the next process, which checks the previous one.
    fn run_next<T>(&mut self, more: &[(&str, &str)], run: impl FnOnce(&[(&str, &str)]) -> T) -> T {
        let (previous, number) = (self.generation.to_string(), (self.generation + 1).to_string());
        let mut task: Vec<(&str, &str)> =
            self.common.iter().map(|(name, value)| (*name, value.as_str())).collect();
        task.push(("generation", &number));
        task.extend(more);
        if self.generation > 0 {
            task.push(("previous", &previous));
        }
        self.generation += 1;
        run(&task)
    }

    /// Kills a process after a number of passes of a failpoint. Returns whether it passed the failpoint more often.
    fn kill(&mut self, failpoint: &str, size: Size, passes: usize) -> bool {
        let (size, passes) = (format!("{size:?}"), passes.to_string());
        let more = [("failpoint", failpoint), ("size", &*size), ("passes", &*passes)];
        let (is_killed, _printed) = self.run_next(&more, |task| run_child_that_may_be_killed(CHILD, task));
        is_killed
    }

    fn check_last(mut self) {
        self.run_next(&[], |task| run_passing_child(CHILD, task));
    }
}

/// Kills a process at each failpoint. Returns the number of kills.
fn kill_at_each_failpoint(is_embedded: bool) -> usize {
    let mut processes = KilledProcesses::new(is_embedded);
    let places = if is_embedded { PLACES_ON_SQLITE } else { PLACES_ON_POSTGRES };
    let mut kills = 0;
    for failpoint in failpoints_at(&places) {
        for size in Size::ALL {
            for passes in passes_before_kill(failpoint) {
                assert!(processes.kill(failpoint.name, size, *passes), "{} was not passed", failpoint.name);
                kills += 1;
            }
        }
    }
    processes.check_last();
    kills
}

/// Kills a process at the first statement, another at the second, and so on, until one has fewer statements. Returns
/// the number of kills.
fn kill_at_each_statement(is_embedded: bool, size: Size) -> usize {
    let mut processes = KilledProcesses::new(is_embedded);
    let kills = (0..).take_while(|passes| processes.kill(STATEMENT, size, *passes)).count();
    processes.check_last();
    kills
}

#[test]
fn a_kill_at_any_step_of_a_command_loses_and_duplicates_nothing() {
    for database in super::databases() {
        let kills = kill_at_each_failpoint(database == "sqlite");
        assert!(kills > 0, "{database}");
        println!("{kills} kills on {database}");
        if covers_all_statements() {
            let kills = Size::ALL.map(|size| kill_at_each_statement(database == "sqlite", size));
            println!("{kills:?} kills at statements on {database}");
        }
    }
}
