//! Starts this test program again with one test and a task for it.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output};
use std::thread::sleep; // tidy: a limit that a test never reaches
use std::time::Duration;

/// The variable with the task of a child process.
const TASK: &str = "FAULT_TEST_TASK";

/// A task: names and values without line breaks.
pub type Task = BTreeMap<String, String>;

/// How long a child may run. Each takes a few seconds.
const DURATION_MAX: Duration = Duration::from_secs(5 * 60);

/// The task of this process, if it is a child that runs the given test. The child then ends after `DURATION_MAX`, so
/// that the test fails instead of waiting forever.
pub fn received_task() -> Option<Task> {
    let text = std::env::var(TASK).ok()?;
    std::thread::spawn(|| {
        sleep(DURATION_MAX);
        eprintln!("the child did not end within {} s", DURATION_MAX.as_secs());
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

/// Runs a test in a child process, which must pass.
pub fn run_passing_child(test: &str, task: &[(&str, &str)]) -> String {
    let output = run_child(test, task);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{task:?}:\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{test} is not a test:\n{text}");
    text
}

/// Runs a test in a child process, which must be killed. Returns its standard output.
pub fn run_killed_child(test: &str, task: &[(&str, &str)]) -> String {
    let output = run_child(test, task);
    let streams = [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream).into_owned());
    assert_eq!(output.status.signal(), Some(9), "{task:?} was not killed:\n{}", streams.join("\n"));
    let [printed, _errors] = streams;
    printed
}

/// Ends this process as `kill -9` does.
pub fn kill_this_process() {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
    loop {
        std::thread::park(); // until the signal arrives
    }
}
