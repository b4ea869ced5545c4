//! Checks the version of the API, which is the first segment of every path (behaviour 21.1).

use crate::entrance::health;
use crate::operation::error::ApiError;

const CURRENT: &str = "v1";

/// Fails with 410 for a retired version, and with 404 for one that never existed (behaviour 21.1) or for a path without a
/// version, with a hint where to find the paths.
pub(super) fn check(path: &str, retired: &[String]) -> Result<(), ApiError> {
    let version = path.strip_prefix('/').and_then(|rest| rest.split('/').next()).unwrap_or_default();
    if !version.is_empty() && retired.iter().any(|retired| retired == version) {
        Err(ApiError::gone())
    } else if version == CURRENT {
        Ok(())
    } else if is_version(version) {
        Err(ApiError::not_found("unknown API version"))
    } else {
        let other_method = health::other_method(path);
        let nothing = || ApiError::not_found("unknown path; GET /docs lists the API");
        Err(other_method.unwrap_or_else(nothing))
    }
}

/// Whether a path starts with a version, existing or not.
pub(in crate::entrance) fn is_versioned(path: &str) -> bool {
    path.strip_prefix('/').and_then(|rest| rest.split('/').next()).is_some_and(is_version)
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
            let status = super::check(path, &retired).map_or_else(|refusal| refusal.told().0, |()| 200);
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
    fn only_a_path_that_looks_like_a_version_names_an_unknown_version() {
        let check = |path: &str, expected: &str| {
            let told = super::check(path, &[]).map_err(|refusal| refusal.told().1.to_owned());
            assert!(told.as_ref().is_err_and(|message| message.contains(expected)), "{path:?}: {told:?}");
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
