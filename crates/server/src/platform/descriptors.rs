//! The limit of open file descriptors of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open descriptors to the hard limit, and returns the resulting limit.
pub(crate) fn raise_limit() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(cause) => {
            log::warn!(cause:%; "cannot raise the limit of open files");
            current
        }
    };
    // `None` means unlimited.
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// Counts the open descriptors of this process; `None` if the system does not report it.
pub(crate) fn count_open() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_descriptor_limit_is_known_and_stable() {
        let first = super::raise_limit();
        assert!(first > 0);
        assert_eq!(super::raise_limit(), first);
    }
}
