//! The names of operating system users, for the audit log.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// The login uid of a process that no login started.
const NO_LOGIN: u32 = u32::MAX;
const USER_LENGTH_MAX: usize = 255;

/// Returns the user of this process. If another user logged in, returns both, such as `ann as guerdon`. A user without
/// a name is shown as a uid. Returns `None` if the system does not report the user.
pub(crate) fn current_user() -> Option<String> {
    let process_user = fs::metadata("/proc/self").ok()?.uid();
    // The kernel keeps the login uid through `su` and `sudo`.
    let login = fs::read_to_string("/proc/self/loginuid").ok().and_then(|text| text.trim().parse().ok());
    Some(join_names(login.filter(|uid| *uid != NO_LOGIN).map(name_of), name_of(process_user)))
}

fn join_names(login: Option<String>, process_user: String) -> String {
    match login.filter(|login| *login != process_user).map(|login| format!("{login} as {process_user}")) {
        Some(joined) if joined.len() <= USER_LENGTH_MAX => joined,
        _ => process_user,
    }
}

/// Returns the name of a user, or a text such as `uid 1000` if the system has no name for the user.
pub(super) fn name_of(id: u32) -> String {
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id.to_string()).then(|| name.to_owned())
    });
    named.filter(|name| (1..=255).contains(&name.len())).unwrap_or_else(|| format!("uid {id}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn login_user_and_process_user_are_joined() {
        let check = |login: Option<&str>, process_user: &str, expected: &str| {
            assert_eq!(super::join_names(login.map(str::to_owned), process_user.to_owned()), expected);
        };
        check(None, "guerdon", "guerdon");
        check(Some("guerdon"), "guerdon", "guerdon");
        check(Some("ann"), "guerdon", "ann as guerdon");
        check(Some(&"a".repeat(250)), "guerdon", "guerdon");
    }

    #[test]
    fn this_process_has_a_user() {
        assert!(super::current_user().is_some_and(|user| !user.is_empty()));
    }
}
