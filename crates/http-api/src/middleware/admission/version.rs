//! Checks the version of the API, which is the first segment of every path (behaviour 21.1).

use crate::middleware::health;
use crate::operation::ApiError;
use crate::request_info::first_segment;

const CURRENT_VERSION: &str = "v1";

/// Fails with 410 for a retired version, and with 404 for a version that never existed (behaviour 21.1). A path without
/// a version fails with 404 and a message that says where the paths are documented.
pub(super) fn check_version(path: &str, retired: &[String]) -> Result<(), ApiError> {
    let version = first_segment(path);
    if !version.is_empty() && retired.iter().any(|retired| retired == version) {
        Err(ApiError::version_gone())
    } else if version == CURRENT_VERSION {
        Ok(())
    } else if is_version(version) {
        Err(ApiError::not_found("unknown API version"))
    } else {
        Err(health::method_error(path).unwrap_or_else(ApiError::unknown_path))
    }
}

/// Whether a path starts with the current version.
pub(in crate::middleware) fn has_current_version(path: &str) -> bool {
    first_segment(path) == CURRENT_VERSION
}

/// Whether a segment has the form of a version.
fn is_version(segment: &str) -> bool {
    let number = segment.strip_prefix('v').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_path_begins_with_a_version() {
        let retired = ["v0".to_owned(), "v07".to_owned()];
        let check = |path: &str, expected: u16| {
            let status = super::check_version(path, &retired)
                .map_or_else(|error| error.status_and_message().0, |()| 200);
            assert_eq!(status, expected, "{path:?}");
        };
        check("/v1", 200);
        check("/v1/", 200);
        check("/v1/companies", 200);
        check("/v1/nothing/here", 200);
        check("/v0", 410);
        check("/v0/companies", 410);
        check("/v07/companies", 410);
        check("/v2/companies", 404);
        check("/v99", 404);
        check("/v11", 404);
        check("/V1/companies", 404);
        check("/%761/companies", 404);
        check("//v1/companies", 404);
        check("/companies", 404);
        check("/", 404);
        check("", 404);
        check("*", 404);
        check("/health", 405);
    }

    #[test]
    fn only_the_first_segment_is_the_version() {
        let has_version = super::has_current_version;
        assert!(has_version("/v1") && has_version("/v1/companies"));
        assert!(!has_version("/v11/companies") && !has_version("/docs/v1") && !has_version(""));
    }

    #[test]
    fn only_a_path_that_looks_like_a_version_names_an_unknown_version() {
        let check = |path: &str, expected: &str| {
            let error =
                super::check_version(path, &[]).map_err(|error| error.status_and_message().1.to_owned());
            assert!(error.as_ref().is_err_and(|message| message.contains(expected)), "{path:?}: {error:?}");
        };
        for path in ["/v2/companies", "/v99", "/v0/"] {
            check(path, "unknown API version");
        }
        for path in
            ["", "/", "/nope", "/docs/guides", "/companies", "/v", "/vx/companies", "/v1x", "/V1/users"]
        {
            check(path, "GET /docs lists the API");
        }
    }
}
