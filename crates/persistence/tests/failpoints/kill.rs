//! `kill -9` at each step of a command. Each process checks what the previous one left, and is then killed itself.
//!
//! A journal file has the acknowledgements that clients had received before the kill.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use guerdon_domain::values::{CompanyId, OccasionId, ProviderId, UserId};
use guerdon_persistence::testing::{Failpoint, Fault, TestDatabase, inject};

use super::child::{kill_this_process, received_task, run_killed_child, run_passing_child};
use super::commands::{PLACES_ON_POSTGRES, PLACES_ON_SQLITE};
use super::failpoints_at;
use super::run::{Acknowledged, Run};
use super::test_command::{Mix, Size, Users};
use crate::support::{FixtureIds, LedgerFixture, create_database};

/// The test that the child processes run.
const CHILD: &str = "failpoints::kill::child_is_killed_while_it_executes_commands";

/// How many passes of a statement precede the kill.
fn passes_before_kill(failpoint: &Failpoint) -> &'static [usize] {
    match failpoint.name {
        "unit.query" => &[0, 3, 6, 9],
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
    panic!("{failpoint} was not passed");
}

/// Kills a process at each failpoint. Returns the number of kills.
fn kill_at_each_failpoint(is_embedded: bool) -> usize {
    let fixture = LedgerFixture::new(create_database(is_embedded));
    let ids = ids_to_text(&fixture.fixture_ids());
    let users = Users::create(&fixture, "all").to_text();
    let database = fixture.close();
    let folder = tempfile::tempdir().unwrap();
    let folder_name = folder.path().to_str().unwrap();
    let common = [("url", database.url.as_str()), ("ids", &ids), ("users", &users), ("folder", folder_name)];
    let places = if is_embedded { PLACES_ON_SQLITE } else { PLACES_ON_POSTGRES };
    let mut generation = 0;
    for failpoint in failpoints_at(&places) {
        for (size, passes) in Size::ALL
            .into_iter()
            .flat_map(|size| passes_before_kill(failpoint).iter().map(move |passes| (size, passes)))
        {
            let (previous, number) = (generation.to_string(), (generation + 1).to_string());
            let (size, passes) = (format!("{size:?}"), passes.to_string());
            let mut task = common.to_vec();
            task.extend([("generation", number.as_str()), ("failpoint", failpoint.name)]);
            task.extend([("size", size.as_str()), ("passes", &passes)]);
            if generation > 0 {
                task.push(("previous", &previous));
            }
            run_killed_child(CHILD, &task);
            generation += 1;
        }
    }
    let (previous, number) = (generation.to_string(), (generation + 1).to_string());
    let mut task = common.to_vec();
    task.extend([("generation", number.as_str()), ("previous", &previous)]);
    run_passing_child(CHILD, &task);
    generation
}

#[test]
fn a_kill_at_any_step_of_a_command_loses_and_duplicates_nothing() {
    for database in super::databases() {
        let kills = kill_at_each_failpoint(database == "sqlite");
        assert!(kills > 0, "{database}");
        println!("{kills} kills on {database}");
    }
}
