//! A server process that never outlives this one, however this one ends.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

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

/// The signal that asks a server to stop.
#[derive(Clone, Copy)]
pub(crate) enum StopSignal {
    Interrupt,
    Terminate,
}

/// A running server and the watchdog that stops it and removes its folder.
pub(crate) struct ProcessGuard {
    server: Child,
    watchdog: Child,
}

impl ProcessGuard {
    /// Starts `command`. Its folder is removed once it has stopped.
    pub(crate) fn start(mut command: Command, signal: StopSignal, folder: &Path) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        // A separate process group: Ctrl-C reaches only this process, and the watchdog then stops the server cleanly.
        let mut server = command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {program}"))?;
        match spawn_watchdog(&server, signal, folder) {
            Ok(watchdog) => Ok(Self { server, watchdog }),
            Err(error) => {
                server.kill()?;
                server.wait()?;
                Err(error)
            }
        }
    }

    /// Polls `ready` until it returns true, the server has ended, or `limit` is over.
    pub(crate) fn wait_until(&mut self, limit: Duration, mut ready: impl FnMut() -> bool) -> Result<()> {
        let start = Instant::now();
        while !ready() {
            if let Some(status) = self.server.try_wait()? {
                bail!("it ended at once ({status})");
            }
            if start.elapsed() > limit {
                bail!("it was not ready after {} s", limit.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        // The watchdog notices that the server has ended only after `wait`, and then removes the folder.
        for child in [&mut self.server, &mut self.watchdog] {
            if let Err(error) = child.wait() {
                eprintln!("waiting for process {}: {error}", child.id());
            }
        }
    }
}

fn spawn_watchdog(server: &Child, signal: StopSignal, folder: &Path) -> Result<Child> {
    let signal = match signal {
        StopSignal::Interrupt => "INT",
        StopSignal::Terminate => "TERM",
    };
    Command::new("sh")
        .args(["-c", WATCHDOG, "watchdog", signal, &server.id().to_string()])
        .arg(folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
        .context("starting the watchdog")
}
