//! Simulated power failures of a service with the embedded database.
//!
//! SIGKILL does not lose data that the operating system has not written to the disk. A library in the service therefore
//! remembers what each write to the database and its log has replaced, until an `fsync` makes the write durable. A
//! simulated power failure undoes all other writes, or a random half of their sectors, and ends the process.
//!
//! The simulation does not cover everything that a power failure can do. A change of a file's length by `ftruncate`
//! counts as durable at once. The writes of a process that was ended by a plain SIGKILL count as durable. No power
//! failure happens during a start.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use guerdon_test_support::Random;

use super::preload::PreloadedLibrary;

const SOURCE: &str = include_str!("power_failure/preload.c");
const POWER_FAILURE: u64 = 0;
const SEED: u64 = 1;
const UNDONE_BYTES: u64 = 2;
const OUTCOME: u64 = 3;
/// The outcome of a power failure whose writes are all undone. 0 means that it is not complete yet.
const COMPLETED: i64 = 1;
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(60);
/// The beginning of the line that the library writes to the log when it fails.
const ERROR_PREFIX: &str = "power failure: ";
/// What a power failure undoes: all writes that are not durable, or some of their sectors.
const MODES: [i64; 2] = [1, 2];

/// Cuts the power of a service.
pub(super) struct PowerSwitch(PreloadedLibrary);

impl PowerSwitch {
    /// Compiles the library.
    pub(super) fn compile(folder: &Path) -> Result<Self> {
        PreloadedLibrary::compile(folder, SOURCE).map(Self)
    }

    /// Returns the variables with which the service loads the library.
    pub(super) fn environment(&self) -> [(&'static str, String); 2] {
        self.0.environment()
    }

    /// Cuts the power. Returns the number of bytes whose writes were undone; the process then ends within milliseconds.
    pub(super) fn cut_power(&self, random: &mut Random) -> Result<usize> {
        self.simulate_failure(*random.one_of(&MODES), i64::try_from(random.number_below(1 << 62))?)
    }

    fn simulate_failure(&self, mode: i64, seed: i64) -> Result<usize> {
        self.0.set_control(SEED, seed)?;
        self.0.set_control(UNDONE_BYTES, 0)?;
        self.0.set_control(POWER_FAILURE, mode)?;
        let start = Instant::now();
        while self.0.read_control(OUTCOME)? == 0 {
            ensure!(start.elapsed() < COMPLETION_TIMEOUT, "the process did not simulate the power failure");
            std::thread::sleep(Duration::from_millis(1));
        }
        let outcome = self.0.read_control(OUTCOME)?;
        ensure!(outcome == COMPLETED, "the simulation of the power failure failed");
        Ok(usize::try_from(self.0.read_control(UNDONE_BYTES)?)?)
    }

    /// Lets the service run again. Call it after the process has ended.
    pub(super) fn restore_power(&self) -> Result<()> {
        self.0.set_control(POWER_FAILURE, 0)?;
        self.0.set_control(OUTCOME, 0)
    }
}

/// Fails if the library reported an error in the log of the service.
pub(super) fn check_log(log: &str) -> Result<()> {
    let error = log.lines().find(|line| line.starts_with(ERROR_PREFIX));
    ensure!(error.is_none(), "the simulation of power failures failed: {}", error.unwrap_or_default());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::{MODES, PowerSwitch, check_log};

    /// Writes "durable", makes it durable, writes more, and waits for the power failure.
    const SCRIPT: &str = r"
import os, time
file = os.open('guerdon.db', os.O_RDWR | os.O_CREAT)
os.pwrite(file, b'durable', 0)
os.fsync(file)
os.pwrite(file, b'x' * 4096, 3)
other = os.open('other', os.O_RDWR | os.O_CREAT)
os.pwrite(other, b'kept', 0)
time.sleep(60)
";

    /// Returns the content of the file after a power failure, and how many bytes it undid.
    fn file_after_power_failure(mode: i64) -> (Vec<u8>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let switch = PowerSwitch::compile(folder.path()).unwrap();
        let mut python = Command::new("python3");
        python.args(["-c", SCRIPT]).current_dir(folder.path()).envs(switch.environment());
        let mut process = python.spawn().unwrap();
        let start = Instant::now();
        while std::fs::read(folder.path().join("other")).unwrap_or_default() != b"kept" {
            assert!(start.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
        let undone_bytes = switch.simulate_failure(mode, 1).unwrap();
        assert_eq!(process.wait().unwrap().signal(), Some(9), "ended by SIGKILL");
        assert_eq!(std::fs::read(folder.path().join("other")).unwrap(), b"kept");
        (std::fs::read(folder.path().join("guerdon.db")).unwrap(), undone_bytes)
    }

    #[test]
    fn a_power_failure_undoes_writes_that_are_not_durable() {
        let [all, some] = MODES;
        assert_eq!(file_after_power_failure(all), (b"durable".to_vec(), 4_096));
        let (file, undone_bytes) = file_after_power_failure(some);
        assert!(undone_bytes > 0 && undone_bytes < 4_096, "{undone_bytes}");
        assert!(file.starts_with(b"dur") && file.len() == 4_099);
        let sectors = file.chunks(512).skip(1);
        let kept: Vec<bool> = sectors.map(|sector| sector.iter().all(|byte| *byte == b'x')).collect();
        assert!(kept.contains(&true) && kept.contains(&false), "{kept:?}");
        assert!(file.iter().skip(7).all(|byte| matches!(byte, 0 | b'x')));
    }

    #[test]
    fn an_error_of_the_library_is_found_in_the_log() {
        assert!(check_log("a power failure: none").is_ok());
        assert!(check_log("started\npower failure: too many files: Success\n").is_err());
    }
}
