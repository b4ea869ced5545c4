//! Simulated power failures of a service with the embedded database.
//!
//! SIGKILL does not lose data that the operating system has not written to the disk. A library in the service therefore
//! remembers what each write to the database and its log has replaced, until an `fsync` makes the write durable. A
//! simulated power failure undoes all other writes, or a random half of their sectors, and ends the process.

use std::path::Path;

use anyhow::Result;
use guerdon_test_support::Random;

use super::preload::PreloadedLibrary;

const SOURCE: &str = include_str!("power_failure/preload.c");
const POWER_FAILURE: u64 = 0;
const SEED: u64 = 1;
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

    /// Cuts the power. The process ends within milliseconds.
    pub(super) fn cut_power(&self, random: &mut Random) -> Result<()> {
        self.0.set_control(SEED, i64::try_from(random.number_below(1 << 62))?)?;
        self.0.set_control(POWER_FAILURE, *random.one_of(&MODES))
    }

    /// Lets the service run again. Call it after the process has ended.
    pub(super) fn restore_power(&self) -> Result<()> {
        self.0.set_control(POWER_FAILURE, 0)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::{MODES, POWER_FAILURE, PowerSwitch};

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

    fn file_after_power_failure(mode: i64) -> Vec<u8> {
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
        switch.0.set_control(POWER_FAILURE, mode).unwrap();
        assert_eq!(process.wait().unwrap().code(), None, "ended by a signal");
        assert_eq!(std::fs::read(folder.path().join("other")).unwrap(), b"kept");
        std::fs::read(folder.path().join("guerdon.db")).unwrap()
    }

    #[test]
    fn a_power_failure_undoes_writes_that_are_not_durable() {
        let [all, some] = MODES;
        assert_eq!(file_after_power_failure(all), b"durable");
        let file = file_after_power_failure(some);
        assert!(file.starts_with(b"dur") && file.len() == 4_099);
        let sectors = file.chunks(512).skip(1);
        let kept: Vec<bool> = sectors.map(|sector| sector.iter().all(|byte| *byte == b'x')).collect();
        assert!(kept.contains(&true) && kept.contains(&false), "{kept:?}");
        assert!(file.iter().skip(7).all(|byte| matches!(byte, 0 | b'x')));
    }
}
