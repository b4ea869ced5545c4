//! One move: the export and the import of a company, each repeated until it succeeds.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::ProcessGuard;
use guerdon_test_support::Random;

use super::clients::{CELL_COUNT, SOURCE, TARGET};
use crate::measurement::service::RunningService;

/// The maximum time from the start of a command to the kill.
const KILL_DELAY_MAX: Duration = Duration::from_millis(250);
const STEP_TIMEOUT: Duration = Duration::from_secs(60);
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The number of killed processes.
#[derive(Default)]
pub(super) struct KillStatistics {
    pub(super) commands: usize,
    pub(super) services: usize,
    /// Kills that occurred before the command had ended.
    pub(super) interrupted: usize,
}

/// A company, and the archive file that moves it.
pub(super) struct MovingCompany<'a> {
    pub(super) id: &'a str,
    pub(super) archive: &'a Path,
}

/// A process that is killed during a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KilledProcess {
    Command,
    Service,
}

impl MovingCompany<'_> {
    /// Moves the company. If `random` is given, kills the command or the service at a random time during the export or
    /// the import.
    pub(super) fn execute(
        &self,
        cells: &mut [RunningService; CELL_COUNT],
        random: Option<&mut Random>,
        kills: &mut KillStatistics,
    ) -> Result<()> {
        let archive = self.archive.to_string_lossy();
        let steps = [
            (SOURCE, vec!["company", "export", self.id, "--hand-over", "--force", "--to", &archive]),
            (TARGET, vec!["company", "import", &archive]),
        ];
        let mut random = random;
        let killed_step = random.as_mut().map(|random| random.index_below(steps.len()));
        for (number, (cell, arguments)) in steps.iter().enumerate() {
            let service = cells.get_mut(*cell).context("no cell")?;
            if let Some(random) = random.as_mut().filter(|_| killed_step == Some(number)) {
                kill_during(service, arguments, random, kills)?;
            }
            run_until_successful(service, arguments)?;
        }
        Ok(())
    }
}

/// Starts a command, and kills it or the service at a random time.
fn kill_during(
    service: &mut RunningService,
    arguments: &[&str],
    random: &mut Random,
    kills: &mut KillStatistics,
) -> Result<()> {
    let mut command = service.installation().command(arguments);
    let mut process = ProcessGuard::kill_on_drop(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
    std::thread::sleep(random.duration_below(KILL_DELAY_MAX));
    let has_ended = process.process().try_wait()?.is_some();
    kills.interrupted += usize::from(!has_ended);
    match random.one_of(&[KilledProcess::Command, KilledProcess::Service]) {
        KilledProcess::Service => {
            service.kill()?;
            process.wait()?;
            service.restart_until_ready()?;
            kills.services += 1;
        }
        KilledProcess::Command => {
            process.kill()?;
            kills.commands += 1;
        }
    }
    Ok(())
}

fn run_until_successful(service: &RunningService, arguments: &[&str]) -> Result<()> {
    let start = Instant::now();
    while let Err(error) = service.run_cli(arguments) {
        ensure!(start.elapsed() < STEP_TIMEOUT, "{error:#}");
        std::thread::sleep(RETRY_DELAY);
    }
    Ok(())
}
