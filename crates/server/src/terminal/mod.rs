//! What the program writes to the terminal: lines of output, log lines, progress bars, and text from elsewhere without
//! its control characters.

mod lines;
pub(crate) mod logging;
pub(crate) mod printable;
mod progress;

pub(crate) use lines::print_line;
pub(crate) use progress::Progress;
