//! A shell that runs one example after the other, and programs in the background. Both are killed when they are
//! dropped, with all processes that they started.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use guerdon_test_harness::forward_lines;

/// Printed after each example.
const END: &str = "[end of the example]";
/// Fails unless the last response has the expected status.
const CURL_WRAPPER: &str = r#"set -e
exec 2>&1
curl() {
  command curl -sS --max-time 30 -D "$HOME/response-headers" "$@"
  received=$(sed -n 's/^HTTP[^ ]* \([0-9]*\).*/\1/p' "$HOME/response-headers" | tail -n 1)
  case "$received" in
    $EXPECTED_STATUS) ;;
    *) echo "[status $received instead of $EXPECTED_STATUS]"; return 1 ;;
  esac
}
"#;

/// A running shell.
pub struct Shell {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    folder: PathBuf,
}

impl Shell {
    /// Starts a shell in a folder, with the sandbox's exports and a curl that checks statuses.
    pub fn start(exports: &str, folder: &Path) -> Self {
        let mut child = command(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = forward_lines(child.stdout.take().unwrap());
        let mut input = child.stdin.take().unwrap();
        input.write_all(format!("{exports}{CURL_WRAPPER}").as_bytes()).unwrap();
        Self { child, input, lines, folder: folder.to_owned() }
    }

    /// Runs an example and returns its output. Fails if a command fails, if curl receives a status that does not match
    /// the pattern, or if the example takes longer than the timeout.
    pub fn run(&mut self, text: &str, expected_status: &str, timeout: Duration) -> Result<String, String> {
        std::fs::write(self.folder.join("example.sh"), text).unwrap();
        let line =
            format!("EXPECTED_STATUS='{expected_status}'\n. ./example.sh </dev/null\necho\necho '{END}'\n");
        self.input.write_all(line.as_bytes()).map_err(|error| error.to_string())?;
        let deadline = Instant::now() + timeout;
        let mut printed = String::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line == END => return Ok(printed),
                Ok(line) => printed.push_str(&format!("{line}\n")),
                Err(cause) => return Err(format!("{cause}: {printed}")),
            }
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        kill_group(self.child.id());
        let _status = self.child.wait();
    }
}

/// A program that keeps running.
pub struct Background {
    child: Child,
    lines: Receiver<String>,
}

impl Background {
    /// Starts a program and waits for its first line.
    pub fn start(text: &str, folder: &Path, timeout: Duration) -> Self {
        let script = format!("exec 2>&1\n{text}");
        let mut child = command(folder)
            .args(["-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = forward_lines(child.stdout.take().unwrap());
        let program = Self { child, lines };
        let first = program.lines.recv_timeout(timeout);
        first.unwrap_or_else(|cause| panic!("{cause}: no line from\n{text}"));
        program
    }

    pub fn assert_running(&mut self) {
        let status = self.child.try_wait().unwrap();
        assert_eq!(status, None, "{:?}", self.lines.try_iter().collect::<Vec<_>>());
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        kill_group(self.child.id());
        let _status = self.child.wait();
    }
}

/// A shell in a separate process group, whose programs store their files in the folder.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command.current_dir(folder).env("HOME", folder).env_remove("XDG_STATE_HOME");
    command.env("GUERDON_ALLOW_UNSAFE_POSTGRES", "1").process_group(0);
    command
}

/// Kills a process and all processes that it started.
pub fn kill_group(group: u32) {
    let _status = Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
}
