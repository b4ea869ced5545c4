//! Classifies failures of the database.

use diesel::result::{DatabaseErrorKind, Error};
use guerdon_domain::ports::StoreError;

/// The store's error for a failure.
pub(crate) fn classify_error(error: &Error) -> StoreError {
    let text = error.to_string();
    let busy_messages = ["database is locked", "database table is locked", "database is busy"];
    let unavailable_messages =
        ["disk I/O error", "database or disk is full", "unable to open database", "readonly database"];
    match error {
        Error::DatabaseError(DatabaseErrorKind::ClosedConnection, _) => StoreError::Unavailable(text),
        _ if busy_messages.iter().any(|part| text.contains(part)) => StoreError::Busy,
        _ if unavailable_messages.iter().any(|part| text.contains(part)) => StoreError::Unavailable(text),
        _ => StoreError::Broken(format!("the database returned an error: {text}")),
    }
}
