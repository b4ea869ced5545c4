//! The sandbox's mails: files that would be mails, shown as they come.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use std::thread::sleep; // tidy: nobody tells when a file is there
use std::time::Duration;

use anyhow::Result;

use super::mime::Mail;
use super::paint::good;
use crate::printable;
use crate::say::say;

const EVERY: Duration = Duration::from_millis(500);
/// So many lines of a mail are shown.
const LINES: usize = 12;

/// Shows each new mail, for ever.
pub(super) fn watch(folder: &Path) -> Result<()> {
    let mut seen = HashSet::new();
    loop {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for path in files.map(|it| it.path()).filter(|it| it.extension() == Some(OsStr::new("eml"))) {
            if seen.insert(path.clone())
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                show(&text);
            }
        }
        sleep(EVERY);
    }
}

fn show(mail: &str) {
    let mail = Mail::read(mail);
    say(good("mail", &format!("to {}: {}", mail.to, mail.subject)));
    for line in mail.body.lines().filter(|it| !it.trim().is_empty()).take(LINES) {
        say(format_args!("      {}", printable::one_line(line)));
    }
}
