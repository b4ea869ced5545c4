//! Lines with a coloured title.

use anstyle::{AnsiColor, Style};

use crate::terminal::printable;

/// Formats a line that reports a success.
pub(super) fn success_line(title: &str, line: &str) -> String {
    styled_line(AnsiColor::Green, title, line)
}

/// Formats a line that reports a failure.
pub(super) fn failure_line(title: &str, line: &str) -> String {
    styled_line(AnsiColor::Red, title, line)
}

fn styled_line(color: AnsiColor, title: &str, line: &str) -> String {
    let style = Style::new().bold().fg_color(Some(color.into()));
    format!("{style}{title}{style:#}  {}", printable::escape_line(line))
}
