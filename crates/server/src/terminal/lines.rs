//! Lines for people, of what goes on, for as long as somebody reads them.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::Once;

use rustix::process::{Signal, getpid, kill_process};

static NOBODY_READS: Once = Once::new();

/// Prints a line, in colour on a terminal. Where nobody reads on, as behind `| head`, the program is asked to end.
pub(crate) fn print_line(line: impl Display) {
    if writeln!(anstream::stdout(), "{line}").is_err() {
        NOBODY_READS.call_once(|| {
            let _gone = kill_process(getpid(), Signal::TERM);
        });
    }
}
