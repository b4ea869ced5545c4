//! Why a request failed, for logs and for the list of failed requests: the message of the error without the client's
//! input, and the kind of the store's failure.
//!
//! Messages contain two kinds of input. Names of unknown fields (behaviour 7.4) are omitted by [`FieldFault`]; ids
//! (behaviour 5.4) are replaced here.

use std::borrow::Cow;

use guerdon_api_types::parameter::FieldFault;
use uuid::Uuid;

use super::ErrorDetails;

/// The maximum length of a reason. Longer reasons are cut off.
const REASON_CHARS_MAX: usize = 500;
const UUID_LENGTH: usize = 36;

impl ErrorDetails {
    /// The reason: at most 500 characters, without personal data.
    pub(crate) fn failure_reason(&self) -> String {
        let message = if self.faults.is_empty() {
            Cow::Borrowed(&*self.message)
        } else {
            let messages: Vec<&str> = self.faults.iter().map(FieldFault::message_without_names).collect();
            Cow::Owned(messages.join("; "))
        };
        let kind = self.failure_kind.map(|kind| format!(": {kind}")).unwrap_or_default();
        let reason = replace_ids(&message) + &kind;
        match reason.char_indices().nth(REASON_CHARS_MAX) {
            Some(_) => reason.chars().take(REASON_CHARS_MAX - 1).chain(['…']).collect(),
            None => reason,
        }
    }
}

/// Replaces each UUID with `…`.
fn replace_ids(message: &str) -> String {
    let is_of_id = |character: char| character.is_ascii_hexdigit() || character == '-';
    let mut replaced = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(character) = rest.chars().next() {
        let length = rest.find(|character| !is_of_id(character)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length.max(character.len_utf8()));
        let is_id = word.len() == UUID_LENGTH && Uuid::try_parse(word).is_ok();
        replaced.push_str(if is_id { "…" } else { word });
        rest = after;
    }
    replaced
}

#[cfg(test)]
mod tests {
    use guerdon_domain::ports::StoreError;

    use super::*;
    use crate::operation::ApiError;

    const ID: &str = "01a1fdd4-8a51-741c-a29d-73192bacd34c";

    fn reason(error: &ApiError) -> String {
        error.details().failure_reason()
    }

    #[test]
    fn a_reason_is_the_message_without_ids_and_names_of_unknown_fields() {
        let check = |error: ApiError, expected: &str| assert_eq!(reason(&error), expected);
        check(ApiError::not_found_in_path("user"), "user not found");
        let id = Uuid::try_parse(ID).ok();
        check(ApiError::not_found_in_path("user").with_path_id(id), "user not found: id …");
        check(
            ApiError::bad_request("Idempotency-Key must be sent only once"),
            "Idempotency-Key must be sent only once",
        );
        let unknown = FieldFault::of_unknown_fields(&["grace.hopper", "ada"], "the body has unknown fields");
        check(
            ApiError::invalid_fields(vec![FieldFault::new("email", "email is required"), unknown]),
            "email is required; the body has unknown fields",
        );
        let receiver = format!("receiver_ids: user {ID} does not exist");
        check(ApiError::invalid_field("receiver_ids", receiver), "receiver_ids: user … does not exist");
    }

    #[test]
    fn the_kind_of_a_store_failure_is_shown_without_its_details() {
        let check = |error: StoreError, expected: &str| assert_eq!(reason(&error.into()), expected);
        check(
            StoreError::Unavailable("connection to db.internal refused".to_owned()),
            "the service is temporarily unavailable: the database is unavailable",
        );
        let corrupt = StoreError::Corrupt { table: "users", column: "email", id: ID.to_owned() };
        check(corrupt, "internal server error: a stored value is corrupt");
        assert_eq!(reason(&ApiError::internal("secret")), "internal server error");
    }

    #[test]
    fn ids_are_replaced_wherever_they_are() {
        let check = |message: &str, expected: &str| assert_eq!(replace_ids(message), expected);
        check("", "");
        check(ID, "…");
        check(&format!("{ID},{ID}"), "…,…");
        check(&format!("ä {ID}: ü"), "ä …: ü");
        check("between 1 and 250000 - bad-cafe", "between 1 and 250000 - bad-cafe");
    }

    #[test]
    fn long_reasons_are_cut_off() {
        let long = reason(&ApiError::bad_request("ä".repeat(501)));
        assert_eq!((long.chars().count(), long.ends_with("ä…")), (500, true));
        assert_eq!(reason(&ApiError::bad_request("ä".repeat(500))), "ä".repeat(500));
    }
}
