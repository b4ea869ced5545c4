//! Classifies failures of the database.

use diesel::result::{DatabaseErrorKind, Error};
use guerdon_domain::ports::StoreError;

/// The store's error for a failure. diesel has no kind for a deadlock, a timeout or a shutdown. They are
/// recognised by the server's messages, which `lc_messages` sets to English.
pub(crate) fn classify_error(error: &Error) -> StoreError {
    let text = error.to_string();
    let conflict_messages = ["deadlock detected", "could not serialize", "lock timeout"];
    let unavailable_messages = [
        "statement timeout",   // not a conflict: a second run would take as long
        "due to user request", // pg_cancel_backend: the operator of the database stopped the statement
        "server closed",
        "terminating connection",
        "connection",
        "shutting down",
        "starting up",
        "SSL SYSCALL",
        // The server's disk is full or faulty: writes succeed again once there is room or it is repaired.
        "No space left on device",
        "could not extend file",
        "could not write",
    ];
    match error {
        Error::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => StoreError::Busy,
        // A standby, or a server that its operator has made read-only, for example because its disk is full.
        Error::DatabaseError(
            DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::ReadOnlyTransaction,
            _,
        ) => StoreError::Unavailable(text),
        _ if conflict_messages.iter().any(|part| text.contains(part)) => StoreError::Busy,
        _ if unavailable_messages.iter().any(|part| text.contains(part)) => StoreError::Unavailable(text),
        _ => StoreError::Broken(format!("the database returned an error: {text}")),
    }
}

/// Whether the failure is a unique violation. Units of work look for an existing row before they insert one, so
/// another transaction has probably inserted it concurrently; the next attempt finds it.
pub(super) fn is_unique_violation(failure: &StoreError) -> bool {
    matches!(failure, StoreError::Broken(text) if text.contains("duplicate key value"))
}

#[cfg(test)]
mod tests {
    use super::{DatabaseErrorKind, Error, StoreError, classify_error};

    #[test]
    fn statements_that_an_operator_ends_are_unavailable() {
        for message in
            ["canceling statement due to user request", "terminating connection due to administrator command"]
        {
            let error = Error::DatabaseError(DatabaseErrorKind::Unknown, Box::new(message.to_owned()));
            assert!(matches!(classify_error(&error), StoreError::Unavailable(_)), "{message}");
        }
    }

    #[test]
    fn a_full_or_faulty_disk_is_unavailable() {
        for message in [
            "could not extend file \"base/16384/16385\": No space left on device",
            "could not extend file \"base/16384/16385\": wrote only 4096 of 8192 bytes at block 7",
            "could not create file \"base/16384/16385.1\": No space left on device",
            "could not write block 7 of base/16384/16385: Input/output error",
        ] {
            let error = Error::DatabaseError(DatabaseErrorKind::Unknown, Box::new(message.to_owned()));
            assert!(matches!(classify_error(&error), StoreError::Unavailable(_)), "{message}");
        }
    }

    #[test]
    fn a_read_only_server_is_unavailable() {
        let message = Box::new("cannot execute INSERT in a read-only transaction".to_owned());
        let error = Error::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, message);
        assert!(matches!(classify_error(&error), StoreError::Unavailable(_)));
    }
}
