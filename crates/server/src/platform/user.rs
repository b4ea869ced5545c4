//! Who gives commands.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// Nobody has logged in.
const NOBODY: u32 = u32::MAX;
const CHARS_MAX: usize = 255;

/// The operating system's user of this process, by name where the system knows one, and who logged in to become that one:
/// `ann as guerdon`. None where it cannot be told.
pub(crate) fn name() -> Option<String> {
    let own = fs::metadata("/proc/self").ok()?.uid();
    // The kernel keeps who logged in, whatever `su` or `sudo` make of it later.
    let login = fs::read_to_string("/proc/self/loginuid").ok().and_then(|it| it.trim().parse().ok());
    Some(acting(login.filter(|it| *it != NOBODY).map(named), named(own)))
}

fn acting(login: Option<String>, own: String) -> String {
    match login.filter(|it| *it != own).map(|it| format!("{it} as {own}")) {
        Some(both) if both.len() <= CHARS_MAX => both,
        _ => own,
    }
}

/// A user by name, where the system knows one.
pub(super) fn named(id: u32) -> String {
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id.to_string()).then(|| name.to_owned())
    });
    named.filter(|it| (1..=255).contains(&it.len())).unwrap_or_else(|| format!("uid {id}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn whoever_becomes_another_is_named_beside() {
        let check = |login: Option<&str>, own: &str, expected: &str| {
            assert_eq!(super::acting(login.map(str::to_owned), own.to_owned()), expected);
        };
        check(None, "guerdon", "guerdon");
        check(Some("guerdon"), "guerdon", "guerdon");
        check(Some("ann"), "guerdon", "ann as guerdon");
        check(Some(&"a".repeat(250)), "guerdon", "guerdon");
    }

    #[test]
    fn this_process_has_a_user() {
        assert!(super::name().is_some_and(|it| !it.is_empty()));
    }
}
