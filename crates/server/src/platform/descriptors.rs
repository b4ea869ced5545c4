//! How many files and connections this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Asks for as many as the system lets this process ask for; answers how many it has.
pub(crate) fn raised() -> usize {
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

/// How many are open.
pub(crate) fn open() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_limit_is_there_and_stays() {
        let first = super::raised();
        assert!(first > 0);
        assert_eq!(super::raised(), first);
    }
}
