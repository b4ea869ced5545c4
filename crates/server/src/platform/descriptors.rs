//! The limit of open files and connections of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open descriptors to the hard limit, and returns the limit that is in force then.
pub(crate) fn raise_limit() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(cause) => {
            log::warn!("the limit of descriptors stays as it is: {cause}");
            current
        }
    };
    // None means that there is no limit.
    limit.and_then(|it| usize::try_from(it).ok()).unwrap_or(usize::MAX)
}

/// Counts the open descriptors of this process; `None` where the system does not tell.
pub(crate) fn count_open() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_limit_is_there_and_stays() {
        let first = super::raise_limit();
        assert!(first > 0);
        assert_eq!(super::raise_limit(), first);
    }
}
