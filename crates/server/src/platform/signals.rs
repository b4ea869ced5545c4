//! The signals that ask the program to stop.

use std::future::pending;

use rustix::process;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, and SIGHUP if the caller asks for it.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Option<Signal>,
}

impl StopSignals {
    /// Starts to listen. From now on, these signals do not end the process. SIGXFSZ is ignored as well, so that a write
    /// beyond the file size limit fails as on a full disk.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let _ignored = signal(SignalKind::from_raw(process::Signal::XFSZ.as_raw()))?;
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, hangup: None })
    }

    /// Also listens for SIGHUP, unless the parent process, such as `nohup`, has set it to be ignored.
    pub(crate) fn and_hangup(self) -> std::io::Result<Self> {
        let hangup = if is_hangup_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { hangup, ..self })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(signal) => signal.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = hangup => {}
        }
    }
}

/// Whether SIGHUP is ignored. Linux shows the ignored signals in `/proc` as a hexadecimal mask, whose lowest bit is
/// SIGHUP. On other systems, this returns `false`. Only this function and the metrics read `/proc/self/status`, one
/// line each, which does not justify a library for `/proc`.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
