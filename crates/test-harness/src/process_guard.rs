//! A process that never outlives this one.

use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, kill_process};

pub use rustix::process::Signal;

/// Reads until the other end of the pipe closes (we dropped it, were killed, or Ctrl-C ended us), then stops the
/// process and removes its folder. It is a separate process because a killed program runs no `Drop`.
const WATCHDOG: &str = r#"
read -r _
kill -s "$1" "$2" 2>/dev/null
tries=0
while kill -0 "$2" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -gt 200 ]; then kill -s KILL "$2" 2>/dev/null; break; fi
    sleep 0.05
done
rm -rf "$3"
"#;

/// The signal that asks a process to stop.
#[derive(Clone, Copy)]
pub enum StopSignal {
    Interrupt,
    Terminate,
}

/// A running process, which is stopped when this guard is dropped.
pub struct ProcessGuard {
    process: Child,
    /// Stops the process and removes its folder. Without a watchdog, the process is killed when the guard is dropped.
    watchdog: Option<Child>,
}

impl ProcessGuard {
    /// Starts `command`, and a watchdog that stops it even if this process is killed. The folder, if given, is removed
    /// after the command has stopped.
    pub fn start(mut command: Command, signal: StopSignal, folder: Option<&Path>) -> Result<Self> {
        // The command gets a separate process group: Ctrl-C reaches only this process, and the watchdog then stops the
        // command cleanly.
        let mut guard = Self::kill_on_drop(command.process_group(0))?;
        guard.watchdog = Some(spawn_watchdog(&guard.process, signal, folder)?);
        Ok(guard)
    }

    /// Starts `command`. It is killed when the guard is dropped; Ctrl-C reaches it too.
    pub fn kill_on_drop(command: &mut Command) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let process = command.stdin(Stdio::null()).spawn().with_context(|| format!("starting {program}"))?;
        Ok(Self { process, watchdog: None })
    }

    /// Polls `ready` until it returns true, the process has ended, or `limit` is over.
    pub fn wait_until(&mut self, limit: Duration, mut ready: impl FnMut() -> bool) -> Result<()> {
        let start = Instant::now();
        while !ready() {
            if let Some(status) = self.process.try_wait()? {
                bail!("the process ended before it was ready ({status})");
            }
            if start.elapsed() > limit {
                bail!("it was not ready after {} s", limit.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20)); // tidy: polls another process
        }
        Ok(())
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The process, for example to take its output.
    pub fn process(&mut self) -> &mut Child {
        &mut self.process
    }

    pub fn send_signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw).context("no process")?;
        Ok(kill_process(pid, signal)?)
    }

    /// Kills the process and waits until it has ended.
    pub fn kill(&mut self) -> Result<()> {
        self.process.kill()?;
        self.wait().map(drop)
    }

    /// Waits until the process has ended.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.process.wait()?)
    }
}

/// Sends each line of a program's output to the returned channel.
pub fn forward_lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    lines
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        match &mut self.watchdog {
            Some(watchdog) => drop(watchdog.stdin.take()),
            None => drop(self.process.kill()), // fails if it has ended
        }
        // The watchdog notices that the process has ended only after `wait`, and then removes the folder.
        for child in std::iter::once(&mut self.process).chain(&mut self.watchdog) {
            if let Err(error) = child.wait() {
                eprintln!("waiting for process {}: {error}", child.id());
            }
        }
    }
}

fn spawn_watchdog(process: &Child, signal: StopSignal, folder: Option<&Path>) -> Result<Child> {
    let signal = match signal {
        StopSignal::Interrupt => "INT",
        StopSignal::Terminate => "TERM",
    };
    Command::new("sh")
        .args(["-c", WATCHDOG, "watchdog", signal, &process.id().to_string()])
        .arg(folder.unwrap_or(Path::new("")))
        .current_dir("/")
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
        .context("starting the watchdog")
}
