//! The time limits of a request, from the first byte of its head to its response.

use std::time::Duration;

/// The time limits of a request, in the order in which they apply. `docs/operating.md` lists them.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// To receive the head.
    pub head: Duration,
    /// To receive the whole body.
    pub body: Duration,
    /// To wait for a lookup of credentials that are not cached. The lookup itself may then take the same time
    /// again.
    pub credentials: Duration,
    /// To wait for memory for a large body or a large response.
    pub memory: Duration,
    /// To wait for another request with the same idempotency key.
    pub idempotency_key: Duration,
    /// To wait for a permit: the number of requests in progress is limited.
    pub permit: Duration,
    /// To wait for a thread or, for a command, for a worker. A request that started later could commit after
    /// the client has received a timeout response.
    pub start: Duration,
    /// To wait for a database connection.
    pub connection: Duration,
    /// To wait for a lock on PostgreSQL. After that the unit of work counts as conflicting with another one, and is
    /// retried.
    pub lock: Duration,
    /// To wait for a lock on PostgreSQL for a command that locks many rows: others wait for those that it has
    /// already locked.
    pub large_lock: Duration,
    /// To run one statement on PostgreSQL. A slower one fails and is not retried.
    pub statement: Duration,
    /// To commit, including all waits and retries of the unit of work. Nothing commits later. For a command,
    /// this time starts when the command is submitted; for any other unit of work, when it starts.
    pub commit: Duration,
    /// A command is retried only if at least this much of `commit` is left.
    pub retry_min: Duration,
    /// To get a response after the request was handed to the store. A request that is refused at this limit
    /// commits nothing.
    pub response: Duration,
    /// To wait in addition to `response` if the commit has already started. If the request fails after that,
    /// its outcome is unknown.
    pub acknowledgement: Duration,
}

impl Deadlines {
    /// The time limits of the service.
    pub const REQUEST: Self = Self {
        head: Duration::from_secs(5),
        body: Duration::from_secs(10),
        credentials: Duration::from_secs(2),
        memory: Duration::from_secs(1),
        idempotency_key: Duration::from_secs(2),
        permit: Duration::from_secs(2),
        start: Duration::from_secs(2),
        connection: Duration::from_secs(1),
        lock: Duration::from_secs(2),
        large_lock: Duration::from_millis(500),
        statement: Duration::from_secs(5),
        commit: Duration::from_secs(8),
        retry_min: Duration::from_millis(100),
        response: Duration::from_secs(10),
        acknowledgement: Duration::from_secs(10),
    };
}

const _: () = {
    let Deadlines { start, connection, lock, statement, commit, retry_min, response, .. } =
        Deadlines::REQUEST;
    // A request that starts in time commits or fails before its response is due.
    assert!(start.as_millis() + commit.as_millis() <= response.as_millis());
    // A request that starts at the last moment still has time for one attempt with a slow statement.
    assert!(start.as_millis() + connection.as_millis() + statement.as_millis() <= commit.as_millis());
    // A wait for a locked row fails as a lock timeout before it can fail as a slow statement.
    assert!(lock.as_millis() < statement.as_millis());
    assert!(retry_min.as_millis() < connection.as_millis());
};

#[cfg(test)]
mod tests {
    use super::Deadlines;

    #[test]
    fn the_operators_guide_lists_the_limits() {
        let page = include_str!("../../../../docs/operating.md");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let limits = Deadlines::REQUEST;
        let check = |limit: std::time::Duration, row: &str| {
            let row = row.replace("{}", &limit.as_secs().to_string());
            assert!(page.contains(&row), "docs/operating.md lacks this: {row}");
        };
        check(limits.head, "| head of a request | 32 KiB, within {} s |");
        check(limits.body, "| body of a request | 1 MiB, within {} s |");
        check(
            limits.credentials,
            "| look-ups of unknown credentials | 2 at a time; others wait for up to {} s |",
        );
        check(limits.memory, "| large bodies | 24 MiB, 12 of one provider, for up to {} s |");
        check(
            limits.memory,
            "| large requests and responses in progress | 64 MiB, 32 of one provider, for up to {} s |",
        );
        check(limits.idempotency_key, "| retries of a request in progress | wait for up to {} s |");
        check(limits.start, "providers take turns; each begins within {} s |");
        check(limits.permit, "a provider that has 8 of them waits for up to {} s while others wait |");
        check(
            limits.start,
            "| other database calls | 256 running or waiting for a thread, the wait at most {} s |",
        );
        check(limits.connection, "A request waits for a connection for up to {} s.");
        check(limits.statement, "Each connection sets a statement limit of {} s");
        check(limits.lock, "and a lock limit of {} s.");
        assert_eq!(limits.large_lock.as_millis(), 500);
        check(limits.commit, "over 16 receivers waits up to 0.5 s, and tries again until its {} s are over.");
        check(limits.commit, "After {} s in all, waiting for a connection included,");
        check(limits.commit, "| duration of a request | {} s to the commit,");
        check(limits.response, "s to the commit, {} s to the response |");
        check(
            limits.acknowledgement,
            "| duration of a commit that is in progress at that time | {} s more |",
        );
    }
}
