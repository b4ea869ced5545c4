//! The time limits of a request, from the first byte of its head to its response.

use std::time::Duration;

/// The time limits of a request, in the order in which they apply. `docs/operating.md` lists them.
pub struct Deadlines;

impl Deadlines {
    /// To receive the head.
    pub const HEAD: Duration = Duration::from_secs(5);
    /// To receive the whole body.
    pub const BODY: Duration = Duration::from_secs(10);
    /// To wait for a lookup of credentials that are not cached. The lookup itself may then take the same time
    /// again.
    pub const CREDENTIALS: Duration = Duration::from_secs(2);
    /// To wait for memory for a large body or a large response.
    pub const MEMORY: Duration = Duration::from_secs(1);
    /// To wait for another request with the same idempotency key.
    pub const IDEMPOTENCY_KEY: Duration = Duration::from_secs(2);
    /// To wait for a permit: the number of requests in progress is limited.
    pub const PERMIT: Duration = Duration::from_secs(2);
    /// To wait for a thread or, for a command, for a worker. A request that started later could commit after
    /// the client has received a timeout response.
    pub const START: Duration = Duration::from_secs(2);
    /// To wait for a database connection.
    pub const CONNECTION: Duration = Duration::from_secs(1);
    /// To wait for a lock on PostgreSQL. After that the unit of work counts as conflicting with another one, and is
    /// retried.
    pub const LOCK: Duration = Duration::from_secs(2);
    /// To wait for a lock on PostgreSQL for a command that locks many rows: others wait for those that it has
    /// already locked.
    pub const LARGE_LOCK: Duration = Duration::from_millis(500);
    /// To run one statement on PostgreSQL. A slower one fails and is not retried.
    pub const STATEMENT: Duration = Duration::from_secs(5);
    /// To commit, including all waits and retries of the unit of work. Nothing commits later. For a command,
    /// this time starts when the command is submitted; for any other unit of work, when it starts.
    pub const COMMIT: Duration = Duration::from_secs(8);
    /// A command is retried only if at least this much of `COMMIT` is left.
    pub const RETRY_MIN: Duration = Duration::from_millis(100);
    /// To get a response after the request was handed to the store. A request that is refused at this limit
    /// commits nothing.
    pub const RESPONSE: Duration = Duration::from_secs(10);
    /// To wait in addition to `RESPONSE` if the commit has already started. If the request fails after that,
    /// its outcome is unknown.
    pub const ACKNOWLEDGEMENT: Duration = Duration::from_secs(10);
}

const _: () = {
    // A request that starts in time commits or fails before its response is due.
    assert!(Deadlines::START.as_millis() + Deadlines::COMMIT.as_millis() <= Deadlines::RESPONSE.as_millis());
    // A request that starts at the last moment still has time for one attempt with a slow statement.
    assert!(
        Deadlines::START.as_millis() + Deadlines::CONNECTION.as_millis() + Deadlines::STATEMENT.as_millis()
            <= Deadlines::COMMIT.as_millis()
    );
    // A wait for a locked row fails as a lock timeout before it can fail as a slow statement.
    assert!(Deadlines::LOCK.as_millis() < Deadlines::STATEMENT.as_millis());
    assert!(Deadlines::RETRY_MIN.as_millis() < Deadlines::CONNECTION.as_millis());
};

#[cfg(test)]
mod tests {
    use super::Deadlines;

    #[test]
    fn the_operators_guide_lists_the_limits() {
        let page = include_str!("../../../../docs/operating.md");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let check = |limit: std::time::Duration, row: &str| {
            let row = row.replace("{}", &limit.as_secs().to_string());
            assert!(page.contains(&row), "docs/operating.md lacks this: {row}");
        };
        check(Deadlines::HEAD, "| head of a request | 32 KiB, within {} s |");
        check(Deadlines::BODY, "| body of a request | 1 MiB, within {} s |");
        check(
            Deadlines::CREDENTIALS,
            "| lookups of unknown credentials | 2 at a time; others wait for up to {} s |",
        );
        check(
            Deadlines::MEMORY,
            "| large bodies | 24 MiB; one provider at most 12; the last 6 are reserved for providers that use at most \
             3; requests wait for up to {} s |",
        );
        check(
            Deadlines::MEMORY,
            "| large requests and responses in progress | 64 MiB; one provider at most 32; the last 16 are reserved \
             for providers that use at most 8; requests wait for up to {} s |",
        );
        check(Deadlines::IDEMPOTENCY_KEY, "| retries of a request in progress | wait for up to {} s |");
        check(Deadlines::START, "providers take turns; each begins within {} s |");
        check(Deadlines::PERMIT, "providers share them, and wait for up to {} s |");
        check(
            Deadlines::START,
            "| other database calls | 256 running or waiting for a thread, the wait at most {} s |",
        );
        check(Deadlines::CONNECTION, "A request waits for a connection for up to {} s.");
        check(Deadlines::STATEMENT, "Each connection sets a statement limit of {} s");
        check(Deadlines::LOCK, "and a lock limit of {} s.");
        assert_eq!(Deadlines::LARGE_LOCK.as_millis(), 500);
        check(
            Deadlines::COMMIT,
            "over 16 receivers waits up to 0.5 s, and tries again until its {} s are over.",
        );
        check(Deadlines::COMMIT, "After {} s in all, waiting for a connection included,");
        check(Deadlines::COMMIT, "| duration of a request | {} s to the commit,");
        check(Deadlines::RESPONSE, "s to the commit, {} s to the response |");
        check(
            Deadlines::ACKNOWLEDGEMENT,
            "| duration of a commit that is in progress at that time | {} s more |",
        );
    }
}
