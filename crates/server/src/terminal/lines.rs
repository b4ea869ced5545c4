//! Prints lines to standard output immediately.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::Once;

use rustix::process::{Signal, getpid, kill_process};

static OUTPUT_CLOSED: Once = Once::new();

/// Prints a line, in colour on a terminal. If standard output is closed, as with `| head`, the process sends itself
/// SIGTERM.
pub(crate) fn print_line(line: impl Display) {
    if writeln!(anstream::stdout(), "{line}").is_err() {
        OUTPUT_CLOSED.call_once(|| {
            let _ignored = kill_process(getpid(), Signal::TERM);
        });
    }
}
