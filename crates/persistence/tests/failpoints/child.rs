//! Starts this test program again with one test and a task for it.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output};
use std::thread::sleep; // tidy: a limit that a test never reaches
use std::time::Duration;

use super::covers_all_statements;

/// The variable with the task of a child process.
const TASK: &str = "FAULT_TEST_TASK";

/// A task: names and values without line breaks.
pub type Task = BTreeMap<String, String>;

/// How long a child may run. Each takes a few seconds, or minutes if it covers all statements.
const DURATION_MAX: Duration = Duration::from_secs(5 * 60);
const DURATION_MAX_WITH_ALL_STATEMENTS: Duration = Duration::from_secs(60 * 60);

/// The task of this process, if it is a child that runs the given test. The child then ends after its maximum duration,
/// so that the test fails instead of waiting forever.
pub fn received_task() -> Option<Task> {
    let text = std::env::var(TASK).ok()?;
    let duration = if covers_all_statements() { DURATION_MAX_WITH_ALL_STATEMENTS } else { DURATION_MAX };
    std::thread::spawn(move || {
        sleep(duration);
        eprintln!("the child did not end within {} s", duration.as_secs());
        std::process::exit(1);
    });
    Some(text.lines().filter_map(|line| line.split_once('=')).map(owned_pair).collect())
}

fn owned_pair((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Runs a test of this program in a child process.
pub fn run_child(test: &str, task: &[(&str, &str)]) -> Output {
    let text: String = task.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(TASK, text)
        .env("RUST_BACKTRACE", "0") // hundreds of injected panics
        .output()
        .unwrap()
}

/// Runs a test in a child process, which must pass. Returns its standard output.
pub fn run_passing_child(test: &str, task: &[(&str, &str)]) -> String {
    let (is_killed, printed) = run_child_that_may_be_killed(test, task);
    assert!(!is_killed, "{task:?} was killed:\n{printed}");
    printed
}

/// Returns the line of a child's standard output that contains `part`, without the name of the test before it.
pub fn find_report<'a>(printed: &'a str, part: &str) -> &'a str {
    let line = printed.lines().find(|line| line.contains(part)).unwrap();
    line.rsplit_once(" ... ").map_or(line, |(_, report)| report)
}

/// Runs a test in a child process, which must be killed. Returns its standard output.
pub fn run_killed_child(test: &str, task: &[(&str, &str)]) -> String {
    let (is_killed, printed) = run_child_that_may_be_killed(test, task);
    assert!(is_killed, "{task:?} was not killed:\n{printed}");
    printed
}

/// Runs a test in a child process, which must be killed or pass. Returns whether it was killed, and its standard
/// output.
pub fn run_child_that_may_be_killed(test: &str, task: &[(&str, &str)]) -> (bool, String) {
    let output = run_child(test, task);
    let streams = [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream).into_owned());
    let is_killed = output.status.signal() == Some(9);
    assert!(is_killed || output.status.success(), "{task:?} failed:\n{}", streams.join("\n"));
    let [printed, _errors] = streams;
    assert!(is_killed || printed.contains("1 passed"), "{test} is not a test:\n{printed}");
    (is_killed, printed)
}

/// Ends this process as `kill -9` does.
pub fn kill_this_process() {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
    loop {
        std::thread::park(); // until the signal arrives
    }
}
