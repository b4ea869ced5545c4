//! Each error has its code and its fields.

use super::*;

#[test]
fn every_error_has_its_code_and_its_fields() {
    let check = |error: ApiError, code: ErrorCode, fields: &[&str]| {
        assert_eq!(error.code_and_fields(), (code, fields.to_vec()), "{error:?}");
    };
    let reference = |denied| DeniedReference { id: uuid::Uuid::nil(), denied }.into();
    check(ApiError::https_required(), ErrorCode::HttpsRequired, &[]);
    check(ApiError::unauthorized(), ErrorCode::Unauthorized, &[]);
    check(ApiError::forbidden("no"), ErrorCode::Forbidden, &[]);
    check(ApiError::forbidden_in_path("no"), ErrorCode::Forbidden, &["id"]);
    check(reference(Denied::Foreign("sender_id")), ErrorCode::Forbidden, &["sender_id"]);
    check(ApiError::from_denied_path(Denied::Foreign("id"), "user"), ErrorCode::Forbidden, &["id"]);
    check(ApiError::not_found("unknown path"), ErrorCode::NotFound, &[]);
    check(reference(Denied::Absent("sender_id")), ErrorCode::NotFound, &["sender_id"]);
    check(ApiError::from_denied_path(Denied::Absent("id"), "user"), ErrorCode::NotFound, &["id"]);
    check(ApiError::method_not_allowed("GET"), ErrorCode::MethodNotAllowed, &[]);
    check(ApiError::bad_request("no"), ErrorCode::InvalidRequest, &[]);
    check(ApiError::invalid_field("a", "a is wrong"), ErrorCode::InvalidRequest, &["a"]);
    check(ApiError::key_reused(), ErrorCode::IdempotencyKeyReused, &[]);
    check(ApiError::version_gone(), ErrorCode::VersionRetired, &[]);
    check(ApiError::too_many_requests(1), ErrorCode::RateLimited, &[]);
    check(ApiError::too_many_failed_logins(1), ErrorCode::LoginRateLimited, &[]);
    check(ApiError::under_maintenance(1), ErrorCode::Maintenance, &[]);
    check(ApiError::unavailable("busy", 1), ErrorCode::Unavailable, &[]);
    check(StoreError::Busy.into(), ErrorCode::Unavailable, &[]);
    check(StoreError::Broken("x".into()).into(), ErrorCode::Internal, &[]);
    check(ApiError::internal("x"), ErrorCode::Internal, &[]);
}

#[test]
fn the_id_in_the_path_is_added_only_to_denials_of_its_object() {
    let id = uuid::Uuid::nil();
    let check = |error: ApiError, expected: &str| {
        let error = error.with_path_id(Some(id));
        assert_eq!(error.status_and_message().1, expected);
        assert_eq!(error.details().faults.first().map_or(expected, |fault| &fault.message), expected);
    };
    check(ApiError::not_found_in_path("user"), &format!("user not found: id {id}"));
    let foreign = ApiError::from_denied_path(Denied::Foreign("id"), "user");
    check(foreign, &format!("the user belongs to another provider: id {id}"));
    check(ApiError::invalid_field("id", "id must be another"), "id must be another");
    check(ApiError::unknown_path(), "unknown path; GET /docs lists the API");
    let reference = DeniedReference { id, denied: Denied::Absent("sender_id") };
    check(reference.into(), &reference.to_string());
    assert_eq!(
        ApiError::not_found_in_path("user").with_path_id(None).status_and_message().1,
        "user not found"
    );
}

#[test]
fn a_company_that_was_handed_over_is_no_failure_of_the_database() {
    let error = ApiError::from(StoreError::CompanyHandedOver);
    assert_eq!((error.status_and_message().0, error.store_failure().is_some()), (503, false));
    assert!(ApiError::from(StoreError::Busy).store_failure().is_some());
}

#[test]
fn an_invalid_body_keeps_the_faults_of_its_fields() {
    let mut fields = guerdon_api_types::Fields::parse(br#"{"a": 1, "z": 1}"#).unwrap();
    fields.read_required::<guerdon_domain::values::UserId>("a");
    fields.read_required::<guerdon_domain::values::UserId>("b");
    let error = ApiError::from(fields.check_faults(Some(())).unwrap_err());
    assert_eq!(error.code_and_fields(), (ErrorCode::InvalidRequest, vec!["a", "b"]));
    assert_eq!(
        error.status_and_message(),
        (400, "a must be a string with a UUID; b is required and must be a string with a UUID")
    );
    fields.reject_unknown();
    let strict = ApiError::from(fields.check_faults(Some(())).unwrap_err());
    assert_eq!(strict.code_and_fields(), (ErrorCode::InvalidRequest, vec!["a", "b", "z"]));
    let syntax = ApiError::from(guerdon_api_types::Fields::parse(b"{,}").err().unwrap());
    assert_eq!(syntax.code_and_fields(), (ErrorCode::InvalidRequest, vec![]));
}
