//! Examples of errors, rendered by the code that renders errors.

use guerdon_api_types::parameter::FieldFault;
use guerdon_domain::money::{PointsPerDollar, points_range};
use guerdon_domain::ports::{Denied, DeniedReference};
use guerdon_domain::recognitions::{SendError, SendFault};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::operation::{ApiError, ErrorCode, Problem};

const SERVICE_URL: &str = "https://localhost:8443";
const REQUEST_ID: &str = "019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12";
/// The id of the object that cannot be used.
pub(super) const DENIED_ID: Uuid = Uuid::from_u128(0x019a_9c3e_5d73_7b1a_8f0e_2d4c_6a8b_0e12);
/// The OpenAPI extension in which an example also contains its error as problem details.
const PROBLEM_EXTENSION: &str = "x-problem-details";

/// Returns the examples of a status, one for each of its codes.
pub(super) fn list_examples(status: u16) -> Value {
    let codes = ErrorCode::ALL.iter().filter(|code| code.status().as_u16() == status);
    render_examples(codes.map(|code| example_error(*code)))
}

/// Renders errors as examples of a response, by code. If several errors have the same code, the first one is rendered.
pub(super) fn render_examples(errors: impl IntoIterator<Item = ApiError>) -> Value {
    let mut examples = Map::new();
    for error in errors {
        let code = error.details().code;
        examples.entry(code.name()).or_insert_with(|| {
            json!({
                "summary": code.meaning(),
                "value": error.body(),
                PROBLEM_EXTENSION: Problem::new(error.details(), SERVICE_URL, REQUEST_ID),
            })
        });
    }
    Value::Object(examples)
}

/// Returns an example of problem details for each code.
pub(super) fn list_problems() -> Vec<Value> {
    let problem =
        |code: &ErrorCode| json!(Problem::new(example_error(*code).details(), SERVICE_URL, REQUEST_ID));
    ErrorCode::ALL.iter().map(problem).collect()
}

/// Returns an example of a field that refers to an object that cannot be used.
pub(super) fn example_reference(denied: Denied) -> DeniedReference {
    DeniedReference { id: DENIED_ID, denied }
}

/// Returns an example of an error with this code.
pub(super) fn example_error(code: ErrorCode) -> ApiError {
    let about_field = |field: &str, message: &'static str| ApiError::about_field(code, field, message);
    match code {
        ErrorCode::HttpsRequired => ApiError::https_required(),
        ErrorCode::Unauthorized => ApiError::unauthorized(),
        ErrorCode::Forbidden => example_reference(Denied::Foreign("sender_id")).into(),
        ErrorCode::NotFound => ApiError::not_found_in_path("company").with_path_id(Some(DENIED_ID)),
        ErrorCode::MethodNotAllowed => ApiError::method_not_allowed("GET, HEAD, PUT"),
        ErrorCode::InvalidRequest => ApiError::invalid_fields(vec![
            FieldFault::new("sender_type", "sender_type must be user or company"),
            FieldFault::new("points_per_receiver", "points_per_receiver is required and must be an integer"),
        ]),
        ErrorCode::InsufficientFunds => SendError::InsufficientFunds.into(),
        ErrorCode::PointsOutOfRange => {
            let range = points_range(PointsPerDollar::DEFAULT, false);
            SendError::Faults(vec![SendFault::PointsOutOfRange(range)]).into()
        }
        ErrorCode::DomainTaken => about_field("domain", "domain has already been taken"),
        ErrorCode::EmailTaken => about_field("email", "email has already been taken"),
        ErrorCode::IdempotencyKeyReused => ApiError::key_reused(),
        ErrorCode::VersionRetired => ApiError::version_gone(),
        ErrorCode::RateLimited => ApiError::too_many_requests(1),
        ErrorCode::LoginRateLimited => ApiError::too_many_failed_logins(1),
        ErrorCode::Maintenance => ApiError::under_maintenance(1),
        ErrorCode::Unavailable => ApiError::unavailable("the service is temporarily unavailable", 1),
        ErrorCode::Internal => ApiError::internal("an example"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_a_code_has_that_code() {
        for code in ErrorCode::ALL {
            let example = &list_examples(code.status().as_u16())[code.name()];
            let problem = &example[PROBLEM_EXTENSION];
            assert_eq!(problem["code"], code.name());
            assert_eq!(problem["detail"], example["value"]["error"]["message"]);
        }
    }

    #[test]
    fn the_first_error_with_a_code_is_its_example() {
        let errors = ["first", "second"].map(ApiError::bad_request);
        let examples = render_examples(errors);
        assert_eq!(examples.as_object().unwrap().len(), 1);
        assert_eq!(examples["invalid_request"]["value"]["error"]["message"], "first");
    }
}
