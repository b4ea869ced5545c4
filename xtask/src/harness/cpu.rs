//! How much processor time processes have spent: the figure that holds still on a noisy machine. Who has which processor. And
//! the end of a process with all that came of it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// What `/proc` counts in, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// A process as `/proc/<pid>/stat` tells of it.
struct Process {
    parent: u32,
    /// Its own time and that of its children that have ended.
    ticks: u32,
}

/// The processor time of a process and of all that came of it.
pub(crate) fn spent(root: u32) -> Duration {
    TICK * family(root).iter().map(|(_, it)| it.ticks).sum()
}

/// Leaves the first processor to these processes and all that came of them, and the others to this one; whoever is started from
/// now on stays with whoever started it. Whether there were processors to part.
pub(crate) fn part(served: &[u32]) -> Result<bool> {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new(); // asked once: later it is what is left
    let all = sched_getaffinity(None)?;
    let allowed = ALLOWED.get_or_init(|| (0..CpuSet::MAX_CPU).filter(|it| all.is_set(*it)).collect());
    let Some((first, others)) = allowed.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Ok(false);
    };
    let set = |of: &[usize]| {
        let mut set = CpuSet::new();
        of.iter().for_each(|it| set.set(*it));
        set
    };
    for (pid, _) in served.iter().flat_map(|it| family(*it)) {
        bind(pid, &set(&[*first]));
    }
    bind(std::process::id(), &set(others));
    Ok(true)
}

/// Kills a process and all that came of it at one moment, as a machine takes everything along that stops.
pub(crate) fn kill(root: u32) -> Result<()> {
    let all = family(root);
    let pid = |it: u32| i32::try_from(it).ok().and_then(Pid::from_raw);
    // The root first: it would see the others die, and answer for it.
    kill_process(pid(root).context("no process")?, Signal::KILL)?;
    for one in all.iter().map(|(it, _)| *it).filter(|it| *it != root).filter_map(pid) {
        let _has_ended = kill_process(one, Signal::KILL);
    }
    Ok(())
}

/// Binds all threads of a process; one that has just ended needs it no more.
fn bind(pid: u32, to: &CpuSet) {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    let ids = threads.flatten().filter_map(|it| it.file_name().to_str()?.parse().ok());
    for id in ids.filter_map(Pid::from_raw) {
        let _has_ended = sched_setaffinity(Some(id), to);
    }
}

/// A process and all that came of it.
fn family(root: u32) -> Vec<(u32, Process)> {
    let all = processes();
    let belongs = |pid: u32| {
        let line = std::iter::successors(Some(pid), |it| all.get(it).map(|it| it.parent));
        line.take(16).any(|it| it == root)
    };
    let its: HashSet<u32> = all.keys().copied().filter(|it| belongs(*it)).collect();
    all.into_iter().filter(|(pid, _)| its.contains(pid)).collect()
}

fn processes() -> HashMap<u32, Process> {
    let Ok(folder) = fs::read_dir("/proc") else { return HashMap::new() };
    let pids = folder.flatten().filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, process(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?)))
        .collect()
}

fn process(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(") ")?; // a name may hold anything
    let fields: Vec<&str> = rest.split(' ').collect();
    let number = |at: usize| fields.get(at)?.parse::<u32>().ok();
    Some(Process { parent: number(1)?, ticks: (11..=14).map(|at| number(at).unwrap_or(0)).sum() })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_is_read_whatever_its_name() {
        let stat = "42 (a) b) S 7 1 1 0 -1 4194560 5 0 0 0 3 4 10 20 20 0 1 0 9";
        let read = super::process(stat).unwrap();
        assert_eq!((read.parent, read.ticks), (7, 37));
    }
}
