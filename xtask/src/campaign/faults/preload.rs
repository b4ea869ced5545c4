//! A library that is loaded into the service or into PostgreSQL and injects faults of the disk and of the clock.

use std::path::Path;

use anyhow::Result;

use crate::campaign::preload::PreloadedLibrary;

const SOURCE: &str = include_str!("preload.c");

/// What happens to reads and writes of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiskFault {
    /// Writes fail, because no space is left.
    Full,
    /// Writes fail with an I/O error.
    WriteErrors,
    /// Data does not reach the disk: `fsync` fails with an I/O error.
    SyncErrors,
    /// `fsync` takes 200 ms.
    SlowSync,
    /// Reads fail with an I/O error.
    ReadErrors,
    /// Each write writes only half of its bytes.
    ShortWrites,
    /// Writes to PostgreSQL's write-ahead log fail, because no space is left. PostgreSQL panics until the fault ends.
    LogFull,
    /// `fsync` of PostgreSQL's write-ahead log fails with an I/O error. PostgreSQL panics until the fault ends.
    LogSyncErrors,
}

/// The library with its control file.
pub(super) struct PreloadedFaults(PreloadedLibrary);

impl PreloadedFaults {
    /// Compiles the library.
    pub(super) fn compile(folder: &Path) -> Result<Self> {
        PreloadedLibrary::compile(folder, SOURCE).map(Self)
    }

    /// Returns the variables with which a program loads the library.
    pub(super) fn environment(&self) -> [(&'static str, String); 2] {
        self.0.environment()
    }

    /// Moves the wall clock of the program by these seconds, compared with the system clock.
    pub(super) fn set_clock_offset(&self, seconds: i64) -> Result<()> {
        self.0.set_control(0, seconds)
    }

    /// Sets the fault of the disk from now on; `None` ends it.
    pub(super) fn set_disk_fault(&self, fault: Option<DiskFault>) -> Result<()> {
        let code = match fault {
            None => 0,
            Some(DiskFault::Full) => 1,
            Some(DiskFault::WriteErrors) => 2,
            Some(DiskFault::SyncErrors) => 3,
            Some(DiskFault::SlowSync) => 4,
            Some(DiskFault::ReadErrors) => 5,
            Some(DiskFault::ShortWrites) => 6,
            Some(DiskFault::LogFull) => 7,
            Some(DiskFault::LogSyncErrors) => 8,
        };
        self.0.set_control(1, code)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::{DiskFault, PreloadedFaults};
    use crate::workspace::command_output;

    /// Runs a script with the library in this folder.
    fn run_script(faults: &PreloadedFaults, folder: &Path, script: &str) -> anyhow::Result<String> {
        let mut shell = Command::new("sh");
        command_output(shell.args(["-c", script]).envs(faults.environment()).current_dir(folder))
    }

    #[test]
    fn faults_of_the_write_ahead_log_concern_only_the_log_of_postgresql() {
        let folder = tempfile::tempdir().unwrap();
        let faults = PreloadedFaults::compile(folder.path()).unwrap();
        let run = |script: &str| run_script(&faults, folder.path(), script);
        let write = |file: &str| run(&format!("echo x | dd of={file} bs=1 count=1 conv=notrunc,fsync"));
        assert!(run("mkdir -p data/base data/pg_wal").is_ok() && write("data/pg_wal/1").is_ok());
        for (fault, message) in
            [(DiskFault::LogFull, "No space left"), (DiskFault::LogSyncErrors, "Input/output error")]
        {
            faults.set_disk_fault(Some(fault)).unwrap();
            let error = write("data/pg_wal/1").unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            assert!(write("data/base/1").is_ok() && write("guerdon.db").is_ok());
        }
        faults.set_disk_fault(Some(DiskFault::LogFull)).unwrap();
        assert!(run(": > data/pg_wal/2").is_err() && !folder.path().join("data/pg_wal/2").exists());
    }

    #[test]
    fn the_library_fails_writes_to_the_database_and_moves_the_clock() {
        let folder = tempfile::tempdir().unwrap();
        let faults = PreloadedFaults::compile(folder.path()).unwrap();
        let run = |script: &str| run_script(&faults, folder.path(), script);
        let write = "echo x | dd of=guerdon.db bs=1 count=1 2>/dev/null";
        assert!(run(write).is_ok());
        for (fault, message) in
            [(DiskFault::Full, "No space left on device"), (DiskFault::WriteErrors, "Input/output error")]
        {
            faults.set_disk_fault(Some(fault)).unwrap();
            let error = run("echo x | dd of=guerdon.db bs=1 count=1").unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
            assert!(run("echo x | dd of=other bs=1 count=1 2>/dev/null").is_ok());
        }
        faults.set_disk_fault(Some(DiskFault::SyncErrors)).unwrap();
        assert!(run("echo x | dd of=guerdon.db bs=1 count=1 conv=fsync").is_err());
        faults.set_disk_fault(Some(DiskFault::ReadErrors)).unwrap();
        assert!(run("dd if=guerdon.db of=/dev/null").is_err() && run(write).is_ok());
        faults.set_disk_fault(Some(DiskFault::ShortWrites)).unwrap();
        let script = "import os; print(os.write(os.open('guerdon.db', os.O_WRONLY), b'abcd'))";
        assert_eq!(run(&format!("python3 -c \"{script}\"")).unwrap().trim(), "2");
        faults.set_disk_fault(None).unwrap();
        assert!(run(write).is_ok());
        let seconds = || run("date +%s").unwrap().trim().parse::<i64>().unwrap();
        let before = seconds();
        faults.set_clock_offset(-86_400).unwrap();
        assert!((seconds() - before + 86_400).abs() < 60);
    }
}
