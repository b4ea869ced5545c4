//! How much processor time processes have spent: the figure that holds still on a noisy machine.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// What `/proc` counts in, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// A process as `/proc/<pid>/stat` tells of it.
struct Process {
    parent: u32,
    /// Its own time and that of its children that have ended.
    ticks: u32,
}

/// The processor time of a process and of all that came of it.
pub(super) fn spent(root: u32) -> Duration {
    let all = processes();
    let belongs = |pid: u32| {
        let line = std::iter::successors(Some(pid), |it| all.get(it).map(|it| it.parent));
        line.take(16).any(|it| it == root)
    };
    let ticks: u32 = all.iter().filter(|(pid, _)| belongs(**pid)).map(|(_, it)| it.ticks).sum();
    TICK * ticks
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
