//! An example of each error code, in both formats, rendered by the code that renders errors.

use guerdon_api_types::parameter::FieldFault;
use guerdon_domain::ports::Denied;
use serde_json::{Map, Value, json};

use crate::operation::error::ApiError;
use crate::operation::error_code::ErrorCode;
use crate::operation::problem::Problem;

const SERVICE_URL: &str = "https://localhost:8443";
const REQUEST_ID: &str = "019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12";

/// The examples of a status by code: in the default format, and as problem details.
pub(super) fn list_examples(status: u16) -> (Value, Value) {
    let (mut errors, mut problems) = (Map::new(), Map::new());
    for code in ErrorCode::ALL.iter().filter(|code| code.status().as_u16() == status) {
        let error = example_error(*code);
        let problem = json!(Problem::new(error.details(), SERVICE_URL, REQUEST_ID));
        let example = |value: Value| json!({"summary": code.meaning(), "value": value});
        errors.insert(code.name().to_owned(), example(json!(error.body())));
        problems.insert(code.name().to_owned(), example(problem));
    }
    (Value::Object(errors), Value::Object(problems))
}

fn example_error(code: ErrorCode) -> ApiError {
    let about_field = |field: &str, message: &'static str| ApiError::about_field(code, field, message);
    match code {
        ErrorCode::HttpsRequired => ApiError::https_required(),
        ErrorCode::Unauthorized => ApiError::unauthorized(),
        ErrorCode::Forbidden => Denied::Foreign("sender_id").into(),
        ErrorCode::NotFound => ApiError::not_found_in_path("company"),
        ErrorCode::MethodNotAllowed => ApiError::method_not_allowed("GET, HEAD, PUT"),
        ErrorCode::InvalidRequest => ApiError::invalid_fields(vec![
            FieldFault::new("sender_type", "sender_type must be user or company"),
            FieldFault::new("points_per_receiver", "points_per_receiver is required"),
        ]),
        ErrorCode::InsufficientFunds => ApiError::new(code, "Insufficient funds"),
        ErrorCode::PointsOutOfRange => about_field(
            "points_per_receiver",
            "Invalid points_per_receiver, value must be between 1 and 250000",
        ),
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
            let (errors, problems) = list_examples(code.status().as_u16());
            let example = &problems[code.name()]["value"];
            assert_eq!(example["code"], code.name());
            assert_eq!(example["detail"], errors[code.name()]["value"]["error"]["message"]);
        }
    }
}
