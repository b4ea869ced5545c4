//! Lines about what happened, with a coloured title where colours are seen.

use anstyle::{AnsiColor, Style};

use crate::terminal::printable;

/// A line about something good.
pub(super) fn good(title: &str, line: &str) -> String {
    painted(AnsiColor::Green, title, line)
}

/// A line about something bad.
pub(super) fn bad(title: &str, line: &str) -> String {
    painted(AnsiColor::Red, title, line)
}

fn painted(color: AnsiColor, title: &str, line: &str) -> String {
    let style = Style::new().bold().fg_color(Some(color.into()));
    format!("{style}{title}{style:#}  {}", printable::one_line(line))
}
