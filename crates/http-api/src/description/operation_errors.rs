//! Lists the errors that an operation can return because of its path, its parameters and its rules. Errors that every
//! operation can return are in the general responses.

use guerdon_domain::occasions::UpdateOccasionError;
use guerdon_domain::ports::Denied;
use guerdon_domain::users::DeleteUserError;

use super::error_examples::{DENIED_ID, example_error, example_reference};
use crate::endpoints::{Route, noun_of};
use crate::operation::operation_spec::{BodyReader, OperationSpec};
use crate::operation::{ApiError, ErrorCode, Query};

/// Lists an example of each error with status 400, 403 or 404.
pub(super) fn list_operation_errors(route: &Route, spec: &OperationSpec) -> Vec<ApiError> {
    let mut errors = list_rule_errors(spec.name);
    errors.push(invalid_request(spec));
    if spec.accepts_idempotency_key {
        errors.push(ApiError::key_reused());
    }
    errors.push(ApiError::https_required());
    if route.needs_designation {
        errors.push(ApiError::not_designated());
    }
    let has_path_id = route.pattern.contains("{id}");
    if has_path_id {
        for denied in [Denied::Foreign("id"), Denied::Absent("id")] {
            errors.push(ApiError::from_denied_path(denied, noun_of(route.pattern)));
        }
    } else if let Some(name) = find_id_parameter(spec) {
        errors.extend(
            [Denied::Foreign(name), Denied::Absent(name)].map(|denied| example_reference(denied).into()),
        );
    }
    let path_id = has_path_id.then_some(DENIED_ID);
    errors.into_iter().map(|error| error.with_path_id(path_id)).collect()
}

/// Returns the errors that the operation's own rules cause, the most important first.
fn list_rule_errors(operation: &str) -> Vec<ApiError> {
    match operation {
        "createCompany" => vec![example_error(ErrorCode::DomainTaken)],
        "createUser" | "updateUser" => vec![example_error(ErrorCode::EmailTaken)],
        "deleteUser" => vec![DeleteUserError::IsOwner.into()],
        "updateOccasion" | "deleteOccasion" => vec![UpdateOccasionError::Global.into()],
        "sendRecognition" | "dryRunRecognition" => {
            [ErrorCode::InsufficientFunds, ErrorCode::PointsOutOfRange].map(example_error).into()
        }
        _ => Vec::new(),
    }
}

/// Returns the error of a request that cannot be parsed.
fn invalid_request(spec: &OperationSpec) -> ApiError {
    let query_error = |text| {
        let read = |query: &mut Query| {
            (spec.read_query)(query);
            Some(())
        };
        Query::parse_with(text, read).err()
    };
    let find_invalid_query = || ["", "page=0", "limit=0"].into_iter().find_map(query_error);
    let invalid_body = spec.body.as_ref().and_then(BodyReader::find_invalid_body);
    match invalid_body.or_else(find_invalid_query) {
        Some(error) => error,
        None if spec.accepts_idempotency_key => ApiError::malformed_key(),
        None => ApiError::unread_body(),
    }
}

/// The first parameter of the query, or else of the body, that identifies an object.
fn find_id_parameter(spec: &OperationSpec) -> Option<&'static str> {
    let names = ["occasion_id", "company_id", "corporation_id"];
    let body_parameters = spec.body.iter().flat_map(|body| &body.parameters);
    let mut parameters = spec.query_parameters.iter().chain(body_parameters);
    let parameter = parameters.find(|parameter| names.contains(&&*parameter.name))?;
    names.into_iter().find(|name| *name == parameter.name)
}
