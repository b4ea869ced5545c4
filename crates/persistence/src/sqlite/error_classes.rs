//! Classifies failures of the database.

use diesel::result::{DatabaseErrorKind, Error};
use guerdon_domain::ports::StoreError;

const DISK_FULL: &str = "database or disk is full";

/// The store's error for a failure.
pub(crate) fn classify_error(error: &Error) -> StoreError {
    let text = error.to_string();
    let busy_messages = ["database is locked", "database table is locked", "database is busy"];
    let unavailable_messages = ["disk I/O error", DISK_FULL, "unable to open database", "readonly database"];
    match error {
        Error::DatabaseError(DatabaseErrorKind::ClosedConnection, _) => StoreError::Unavailable(text),
        _ if busy_messages.iter().any(|part| text.contains(part)) => StoreError::Busy,
        _ if unavailable_messages.iter().any(|part| text.contains(part)) => StoreError::Unavailable(text),
        _ => StoreError::Broken(format!("the database returned an error: {text}")),
    }
}

/// The store's error for a failed COMMIT. SQLite writes the whole transaction to the write-ahead log before it syncs
/// the log. After a failed sync, the transaction is undone only in memory: if the process ends before another
/// transaction overwrites it in the log, the next start recovers it. A full disk is reported before the transaction is
/// complete in the log, and a lock before anything is written.
pub(super) fn classify_commit_error(error: &Error) -> StoreError {
    match classify_error(error) {
        StoreError::Busy => StoreError::Busy,
        StoreError::Unavailable(text) if text.contains(DISK_FULL) => StoreError::Unavailable(text),
        cause => StoreError::OutcomeUnknown(format!("the commit failed: {cause}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcome_of_a_commit_that_failed_to_reach_the_disk_is_unknown() {
        let fail = |text: &str| {
            let error = Error::DatabaseError(DatabaseErrorKind::Unknown, Box::new(text.to_owned()));
            classify_commit_error(&error)
        };
        assert!(matches!(fail("disk I/O error"), StoreError::OutcomeUnknown(_)));
        assert!(matches!(fail("out of memory"), StoreError::OutcomeUnknown(_)));
        assert!(matches!(fail("database or disk is full"), StoreError::Unavailable(_)));
        assert!(matches!(fail("database is locked"), StoreError::Busy));
    }
}
