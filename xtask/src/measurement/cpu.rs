//! Measures the processor time of processes, which is stable on a busy machine; assigns processors; kills process
//! trees.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The unit of times in `/proc` on Linux.
const TICK: Duration = Duration::from_millis(10);

/// A process as described in `/proc/<pid>/stat`.
struct Process {
    parent: u32,
    /// Its own time and that of its ended children.
    ticks: u32,
}

/// Returns the processor time of a process and its descendants.
pub(crate) fn cpu_time(root: u32) -> Duration {
    TICK * process_tree(root).iter().map(|(_, process)| process.ticks).sum()
}

/// Assigns the first processor to these processes and their descendants, and the others to this process. Processes
/// started later inherit the assignment. Returns `false` if the machine has too few processors.
pub(crate) fn partition_processors(served: &[u32]) -> Result<bool> {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new(); // read once: later calls would see the reduced set
    let all = sched_getaffinity(None)?;
    let allowed = ALLOWED.get_or_init(|| processors_in(&all));
    let Some((first, others)) = allowed.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Ok(false);
    };
    for (pid, _) in served.iter().flat_map(|pid| process_tree(*pid)) {
        pin_threads(pid, &set_of(&[*first]));
    }
    pin_threads(std::process::id(), &set_of(others));
    Ok(true)
}

/// Runs `start` on one processor, which the processes that it starts inherit. If the machine has fewer processors,
/// several numbers mean the same one.
pub(crate) fn run_on_processor<T>(number: usize, start: impl FnOnce() -> Result<T>) -> Result<T> {
    let all = sched_getaffinity(None)?;
    let allowed = processors_in(&all);
    let processor = allowed.get(number % allowed.len().max(1)).context("no processor")?;
    sched_setaffinity(None, &set_of(&[*processor]))?;
    let result = start();
    sched_setaffinity(None, &all)?;
    result
}

fn processors_in(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|number| set.is_set(*number)).collect()
}

fn set_of(processors: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    processors.iter().for_each(|processor| set.set(*processor));
    set
}

/// Kills a process and its descendants at once, as a machine failure does.
pub(crate) fn kill_tree(root: u32) -> Result<()> {
    signal_tree(root, Signal::KILL)
}

/// Sends a signal to a process and its descendants.
pub(crate) fn signal_tree(root: u32, signal: Signal) -> Result<()> {
    let all = process_tree(root);
    let pid = |pid: u32| i32::try_from(pid).ok().and_then(Pid::from_raw);
    // The root goes first: otherwise it would notice that its children die, and react.
    kill_process(pid(root).context("no process")?, signal)?;
    for descendant in all.iter().map(|(pid, _)| *pid).filter(|pid| *pid != root).filter_map(pid) {
        let _has_ended = kill_process(descendant, signal);
    }
    Ok(())
}

/// Binds all threads of a process. Threads that have just ended are ignored.
fn pin_threads(pid: u32, processors: &CpuSet) {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    let ids = threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for id in ids.filter_map(Pid::from_raw) {
        let _has_ended = sched_setaffinity(Some(id), processors);
    }
}

/// Returns a process and its descendants.
fn process_tree(root: u32) -> Vec<(u32, Process)> {
    let all = list_processes();
    let is_member = |pid: u32| {
        let ancestors = std::iter::successors(Some(pid), |pid| all.get(pid).map(|process| process.parent));
        ancestors.take(16).any(|ancestor| ancestor == root)
    };
    let members: HashSet<u32> = all.keys().copied().filter(|pid| is_member(*pid)).collect();
    all.into_iter().filter(|(pid, _)| members.contains(pid)).collect()
}

fn list_processes() -> HashMap<u32, Process> {
    let Ok(folder) = fs::read_dir("/proc") else { return HashMap::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?)))
        .collect()
}

fn parse_stat(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(") ")?; // the name may contain anything
    let fields: Vec<&str> = rest.split(' ').collect();
    let number = |index: usize| fields.get(index)?.parse::<u32>().ok();
    Some(Process { parent: number(1)?, ticks: (11..=14).map(|index| number(index).unwrap_or(0)).sum() })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_is_parsed_regardless_of_its_name() {
        let stat = "42 (a) b) S 7 1 1 0 -1 4194560 5 0 0 0 3 4 10 20 20 0 1 0 9";
        let read = super::parse_stat(stat).unwrap();
        assert_eq!((read.parent, read.ticks), (7, 37));
    }
}
