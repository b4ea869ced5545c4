//! Shows the progress of a long command on a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

const REDRAW_INTERVAL: Duration = Duration::from_millis(100);
const USERS_BAR: &str = "{wide_bar} {human_pos} of {human_len} users";
const ROWS_BAR: &str = "{wide_bar} {human_pos} of {human_len} rows";
const BYTES_BAR: &str = "{wide_bar} {bytes} of {total_bytes}";

/// A spinner, which becomes a bar when the total is known. The default shows nothing.
#[derive(Clone, Default)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Shows the progress on standard error until `finish` is called, if standard error is a terminal.
    pub(crate) fn on_terminal() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::default();
        }
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(REDRAW_INTERVAL);
        Self(Some(bar))
    }

    /// Shows a bar with this total number of users.
    pub(crate) fn show_users(&self, all: usize) {
        self.show_bar(all, USERS_BAR);
    }

    /// Shows a bar with this total number of rows.
    pub(crate) fn show_rows(&self, all: usize) {
        self.show_bar(all, ROWS_BAR);
    }

    /// Shows a bar with this total number of bytes.
    pub(crate) fn show_bytes(&self, all: usize) {
        self.show_bar(all, BYTES_BAR);
    }

    fn show_bar(&self, all: usize, style: &str) {
        if let Some(bar) = &self.0 {
            bar.set_length(u64::try_from(all).unwrap_or(u64::MAX));
            bar.set_style(
                ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
        }
    }

    /// Advances the progress.
    pub(crate) fn advance_by(&self, by: usize) {
        if let Some(bar) = &self.0 {
            bar.inc(u64::try_from(by).unwrap_or(0));
        }
    }

    /// Clears the progress from the terminal.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
