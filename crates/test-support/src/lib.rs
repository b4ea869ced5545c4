#![doc = include_str!("../README.md")]
#![expect(clippy::expect_used, reason = "a test that cannot be counted, or is wrong, fails by panicking")]

mod random;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub use random::Random;

/// Folders with server programs that may be missing in a user's PATH.
const EXTRA_PROGRAM_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// Returns the path of a program. If it is missing, fails in CI, and records a skipped test elsewhere.
pub fn require_program(name: &str) -> Option<PathBuf> {
    require_one_of(&[name])
}

/// Returns the path of the first of these programs that is installed. If all are missing, fails in CI, and records a
/// skipped test elsewhere.
pub fn require_one_of(names: &[&str]) -> Option<PathBuf> {
    let found = names.iter().find_map(|name| find_program(name));
    require_condition(found.is_some(), names.first().copied().unwrap_or_default());
    found
}

/// Returns whether something that the test needs is present. If it is missing, fails in CI, and records a skipped test
/// elsewhere.
pub fn require_condition(is_present: bool, what: &str) -> bool {
    if !is_present {
        assert!(std::env::var_os("CI").is_none(), "{what} is missing: install it, because CI skips no tests");
        record_skip(&format!("{what} is missing"));
    }
    is_present
}

/// Records that the calling test was skipped, and why. `cargo xtask test` prints it at the end.
pub fn record_skip(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    eprintln!("skipped {test}: {reason}");
    append_to_tally(&format!("skip {test}: {reason}\n"));
}

/// Counts a database of a kind (`sqlite` or `postgres`) that a test opened.
pub fn record_database(kind: &str) {
    append_to_tally(&format!("database {kind}\n"));
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(EXTRA_PROGRAM_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Several processes append at once, so a line is written by one call.
fn append_to_tally(line: &str) {
    if let Some(path) = std::env::var_os("TEST_TALLY") {
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.expect("the tally file").write_all(line.as_bytes()).expect("a line in the tally file");
    }
}

#[cfg(test)]
mod tests {
    use super::find_program;

    #[test]
    fn a_program_is_found_by_its_name() {
        assert!(find_program("sh").is_some_and(|it| it.is_absolute()));
        assert_eq!(find_program("no-such-program"), None);
    }
}
