//! Lines with a coloured title.

use anstyle::{AnsiColor, Style};

use crate::terminal::printable;

/// Formats a line about a success.
pub(super) fn good(title: &str, line: &str) -> String {
    painted(AnsiColor::Green, title, line)
}

/// Formats a line about a failure.
pub(super) fn bad(title: &str, line: &str) -> String {
    painted(AnsiColor::Red, title, line)
}

fn painted(color: AnsiColor, title: &str, line: &str) -> String {
    let style = Style::new().bold().fg_color(Some(color.into()));
    format!("{style}{title}{style:#}  {}", printable::one_line(line))
}
