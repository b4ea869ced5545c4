//! Output to the terminal: lines of output, log lines, progress bars, and untrusted text with escaped control
//! characters.

mod lines;
pub(crate) mod logging;
pub(crate) mod printable;
mod progress;

pub(crate) use lines::print_line;
pub(crate) use progress::Progress;
