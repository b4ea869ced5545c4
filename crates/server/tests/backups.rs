//! Backups of the database, and restoring them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use guerdon_persistence::testing::execute_on_file;
use guerdon_test_support::require_condition;

use crate::long_term_operation::text_field;
use crate::support::{SampleCompany, for_each_database, run_on_postgres, run_on_sqlite};

#[test]
fn a_backup_of_a_running_service_is_restored() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 2);
        sample.fund_peer_wallets(service, 10);
        let file = service.data_dir.path().join("copy.db");
        let backup = ["--output", "json", "backup", file.to_str().unwrap()];
        let output = service.run_command(&backup);
        if !service.database.is_embedded() {
            assert!(output.status == 1 && output.stderr.contains("pg_dump"), "{}", output.stderr);
            return;
        }
        assert_eq!(output.status, 0, "{}", output.stderr);
        let head = text_field(&serde_json::from_str(&output.stdout).unwrap(), "head").to_owned();
        assert_eq!(service.run_command(&backup).status, 1, "an existing file is not replaced");
        let here = service
            .build_command()
            .current_dir(&service.data_dir)
            .args(["backup", "here.db"])
            .output()
            .unwrap();
        assert!(here.status.success(), "{}", String::from_utf8_lossy(&here.stderr));
        assert!(service.data_dir.path().join("here.db").exists());
        assert!(!service.data_dir.path().join("here.db.partial").exists());
        sample.deposit_points(service, 1);
        let elsewhere = tempfile::tempdir().unwrap();
        let run = |words: &[&str]| {
            let mut command = service.build_command();
            command.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", elsewhere.path());
            command.args(words).output().unwrap()
        };
        fs::copy(service.data_dir.path().join("master.key"), elsewhere.path().join("master.key"))
            .unwrap_or_default();
        let restored = run(&["restore", file.to_str().unwrap()]);
        assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
        assert!(run(&["verify", "--head", &head]).status.success());
        assert_eq!(
            run(&["restore", file.to_str().unwrap()]).status.code(),
            Some(1),
            "an existing file is not replaced"
        );
    });
}

#[test]
fn a_backup_writes_only_to_a_file_that_it_created() {
    run_on_sqlite(|service| {
        let folder = tempfile::tempdir().unwrap();
        let [file, partial, victim] =
            ["copy.db", "copy.db.partial", "victim"].map(|name| folder.path().join(name));
        let backup = || service.run_command(&["backup", file.to_str().unwrap()]);
        fs::write(&victim, "of the same user").unwrap();
        symlink(&victim, &partial).unwrap();
        let refused = backup();
        assert!(
            refused.status == 1 && refused.stderr.contains("not a regular file of this user"),
            "{}",
            refused.stderr
        );
        assert_eq!(fs::read_to_string(&victim).unwrap(), "of the same user");
        assert!(partial.is_symlink() && !file.exists(), "files of other users are not touched");
        fs::remove_file(&partial).unwrap();
        fs::write(&partial, "left by a backup that was killed").unwrap();
        fs::set_permissions(&partial, Permissions::from_mode(0o666)).unwrap();
        assert_eq!(backup().status, 0);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!partial.exists());
    });
}

#[test]
fn an_incomplete_backup_is_refused() {
    run_on_sqlite(|service| {
        let folder = service.data_dir.path().to_owned();
        let path = |name: &str| folder.join(name);
        let sample = SampleCompany::create(service, 1);
        let paid = ["reserve", "deposit", &sample.company, "--points", "5", "--key", "invoice-117"];
        service.run_json_command(&paid);
        assert_eq!(service.run_command(&["backup", path("copy.db").to_str().unwrap()]).status, 0);
        let elsewhere = tempfile::tempdir().unwrap();
        let there = |name: &str| elsewhere.path().join(name);
        let restored = |file: &Path| {
            let mut command = service.build_command();
            command.env_remove("GUERDON_DATABASE__URL").env("GUERDON_DATA_DIR", elsewhere.path());
            let result = command.arg("restore").arg(file).output().unwrap();
            (result.status.code(), String::from_utf8(result.stderr).unwrap())
        };
        let refused = |file: &Path, why: &str| {
            let result = restored(file);
            assert!(result.0 == Some(1) && result.1.contains(why), "{}: {result:?}", file.display());
            assert!(!there("guerdon.db").exists());
        };
        let mut bytes = fs::read(path("copy.db")).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0xA5);
        fs::write(path("damaged.db"), bytes).unwrap();
        refused(&path("damaged.db"), "damaged.db");
        // Changes one character in a journal entry, which only the seal reveals.
        let mut bytes = fs::read(path("copy.db")).unwrap();
        let found = bytes.windows(11).enumerate().filter(|(_, window)| window == b"invoice-117");
        let places: Vec<usize> = found.map(|(place, _)| place).collect();
        places.iter().for_each(|place| bytes[place + 10] = b'8');
        assert!(!places.is_empty());
        fs::write(path("altered.db"), bytes).unwrap();
        refused(&path("altered.db"), "damaged (seal)");
        let bytes = fs::read(path("copy.db")).unwrap();
        let (length, cut) = (bytes.len(), bytes.len() * 2 / 3);
        fs::write(path("cut.db"), &bytes[..cut]).unwrap();
        refused(&path("cut.db"), &format!("it is incomplete: {cut} of {length} bytes"));
        fs::write(path("empty.db"), "").unwrap();
        refused(&path("empty.db"), "empty");
        refused(&folder, "not a file");
        execute_on_file(&path("foreign.db"), "CREATE TABLE posts (id, title)");
        refused(&path("foreign.db"), "not a Guerdon backup");
        fs::copy(path("copy.db"), path("tampered.db")).unwrap();
        let added = "CREATE TRIGGER added AFTER INSERT ON transfers BEGIN SELECT 1; END";
        execute_on_file(&path("tampered.db"), added);
        refused(&path("tampered.db"), "trigger added");
        // A database that was moved while in use is not a backup: part of its data is in the write-ahead log.
        fs::copy(path("copy.db"), path("moved.db")).unwrap();
        fs::write(path("moved.db-wal"), "a part of it").unwrap();
        refused(&path("moved.db"), "moved.db-wal");
        fs::write(there("guerdon.db-wal"), "of another database").unwrap();
        refused(&path("copy.db"), "guerdon.db-wal");
        fs::remove_file(there("guerdon.db-wal")).unwrap();
        let left = ["", "-wal", "-shm", "-journal"].map(|end| there(&format!("guerdon.db.restoring{end}")));
        left.iter().for_each(|file| fs::write(file, "of a restore that was killed").unwrap());
        assert_eq!(restored(&path("copy.db")).0, Some(0));
        assert!(left.iter().all(|file| !file.exists()));
    });
}

/// A PostgreSQL program, from the directory that `cargo xtask test` sets, or from `PATH`.
fn postgres_program(name: &str) -> PathBuf {
    std::env::var_os("TEST_POSTGRES_PROGRAMS").map_or_else(PathBuf::new, PathBuf::from).join(name)
}

#[test]
fn a_postgresql_dump_is_restored_as_documented() {
    run_on_postgres(|service| {
        let has_dump = Command::new(postgres_program("pg_dump")).arg("--version").output().is_ok();
        if !require_condition(has_dump, "pg_dump") {
            return;
        }
        let (sample, file) =
            (SampleCompany::create(service, 2), service.data_dir.path().join("guerdon.dump"));
        sample.fund_peer_wallets(service, 10);
        assert_eq!(sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 5).status, 201);
        let head = text_field(&service.run_json_command(&["seal"]), "head").to_owned();
        let run = |command: &mut Command| {
            let output = command.output().unwrap();
            let output_text =
                [output.stdout, output.stderr].map(|output| String::from_utf8(output).unwrap()).concat();
            assert!(output.status.success(), "{command:?}: {output_text}");
        };
        let mut dump = Command::new(postgres_program("pg_dump"));
        run(dump.args(["-Fc", "-f"]).arg(&file).arg(&service.database.url));
        sample.deposit_points(service, 1); // after the dump
        let other = guerdon_persistence::testing::create_postgres();
        other.execute_sql("", "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        let mut restore = Command::new(postgres_program("pg_restore"));
        restore.args(["--no-owner", "--exit-on-error", "--single-transaction", "-d", &other.url]).arg(&file);
        run(&mut restore);
        let guerdon = |words: &[&str]| {
            run(service.build_command().env("GUERDON_DATABASE__URL", &other.url).args(words))
        };
        guerdon(&["migrate"]);
        guerdon(&["verify", "--head", &head]);
        guerdon(&["reserve", "deposit", &sample.company, "--points", "3"]);
        guerdon(&["verify"]);
    });
}
