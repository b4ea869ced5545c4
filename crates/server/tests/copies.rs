//! Copies of the database, and what is restored from them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::{Sample, on_each};
use crate::years::text;

#[test]
fn a_copy_is_taken_beside_the_service_and_restored() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 10);
        let file = service.data.path().join("copy.db");
        let backup = ["--output", "json", "backup", file.to_str().unwrap()];
        let told = service.guerdon(&backup);
        if !service.database.is_embedded() {
            assert!(told.status == 1 && told.err.contains("pg_dump"), "{}", told.err);
            return;
        }
        assert_eq!(told.status, 0, "{}", told.err);
        let head = text(&serde_json::from_str(&told.out).unwrap(), "head").to_owned();
        assert_eq!(service.guerdon(&backup).status, 1, "a file that is there is not replaced");
        let here = service.command().current_dir(&service.data).args(["backup", "here.db"]).output().unwrap();
        assert!(here.status.success(), "{}", String::from_utf8_lossy(&here.stderr));
        assert!(service.data.path().join("here.db").exists());
        assert!(!service.data.path().join("here.db.partial").exists());
        sample.deposit(service, 1);
        let elsewhere = tempfile::tempdir().unwrap();
        let run = |words: &[&str]| {
            let mut command = service.command();
            command.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", elsewhere.path());
            command.args(words).output().unwrap()
        };
        fs::copy(service.data.path().join("master.key"), elsewhere.path().join("master.key"))
            .unwrap_or_default();
        let restored = run(&["restore", file.to_str().unwrap()]);
        assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
        assert!(run(&["verify", "--head", &head]).status.success());
        assert_eq!(run(&["restore", file.to_str().unwrap()]).status.code(), Some(1), "not over another");
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0xA5);
        let damaged = service.data.path().join("damaged.db");
        fs::write(&damaged, bytes).unwrap();
        fs::remove_file(elsewhere.path().join("guerdon.db")).unwrap();
        assert_eq!(run(&["restore", damaged.to_str().unwrap()]).status.code(), Some(1));
        assert!(!elsewhere.path().join("guerdon.db").exists());
        let log = elsewhere.path().join("guerdon.db-wal");
        fs::write(&log, "of another database").unwrap();
        let told = run(&["restore", file.to_str().unwrap()]);
        let told = (told.status.code(), String::from_utf8(told.stderr).unwrap());
        assert!(told.0 == Some(1) && told.1.contains("guerdon.db-wal"), "{told:?}");
        fs::remove_file(&log).unwrap();
        // What was in use when it was moved away is no backup: a part of it is in its log.
        let moved = service.data.path().join("moved.db");
        fs::copy(&file, &moved).unwrap();
        fs::write(service.data.path().join("moved.db-wal"), "a part of it").unwrap();
        let told = run(&["restore", moved.to_str().unwrap()]);
        let told = (told.status.code(), String::from_utf8(told.stderr).unwrap());
        assert!(told.0 == Some(1) && told.1.contains("moved.db-wal"), "{told:?}");
        let left = elsewhere.path().join("guerdon.db.restoring");
        fs::write(&left, "of a restore that was killed").unwrap();
        assert!(run(&["restore", file.to_str().unwrap()]).status.success());
        assert!(!left.exists());
    });
}

/// A program of PostgreSQL's, where `cargo xtask test` says that they are, or of this machine.
fn postgres_program(name: &str) -> PathBuf {
    std::env::var_os("TEST_POSTGRES_PROGRAMS").map_or_else(PathBuf::new, PathBuf::from).join(name)
}

/// Whether they are there; in CI they must be.
fn has_postgres_programs() -> bool {
    let found = Command::new(postgres_program("pg_dump")).arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "pg_dump is missing: install PostgreSQL's client");
    found
}

#[test]
fn a_dump_of_postgresql_is_restored_as_the_guide_says() {
    on_each(|service| {
        if service.database.is_embedded() || !has_postgres_programs() {
            return;
        }
        let (sample, file) = (Sample::make(service, 2), service.data.path().join("guerdon.dump"));
        sample.fund(service, 10);
        assert_eq!(sample.send(service, &sample.users[0], &[&sample.users[1]], 5).status, 201);
        let head = text(&service.json(&["seal"]), "head").to_owned();
        let run = |command: &mut Command| {
            let done = command.output().unwrap();
            let told = [done.stdout, done.stderr].map(|it| String::from_utf8(it).unwrap()).concat();
            assert!(done.status.success(), "{command:?}: {told}");
        };
        let mut dump = Command::new(postgres_program("pg_dump"));
        run(dump.args(["-Fc", "-f"]).arg(&file).arg(&service.database.url));
        sample.deposit(service, 1); // after the dump
        let other = guerdon_persistence::testing::postgres();
        other.tamper("", "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        let mut restore = Command::new(postgres_program("pg_restore"));
        restore.args(["--no-owner", "--exit-on-error", "--single-transaction", "-d", &other.url]).arg(&file);
        run(&mut restore);
        let guerdon =
            |words: &[&str]| run(service.command().env("GUERDON_DATABASE__URL", &other.url).args(words));
        guerdon(&["migrate"]);
        guerdon(&["verify", "--head", &head]);
        guerdon(&["reserve", "deposit", &sample.company, "--points", "3"]);
        guerdon(&["verify"]);
    });
}
