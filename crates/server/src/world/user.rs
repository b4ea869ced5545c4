//! Who gives commands.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// The operating system's user of this process, by name where the system knows one; none where it cannot be told.
pub(crate) fn name() -> Option<String> {
    Some(named(fs::metadata("/proc/self").ok()?.uid()))
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
    fn this_process_has_a_user() {
        assert!(super::name().is_some_and(|it| !it.is_empty()));
    }
}
