//! Versions of the API: the first part of every path (behaviour 21.1).

use crate::operation::error::ApiError;

const CURRENT: &str = "v1";

/// 410 for a retired version, 404 for one that never was and for a path without any (behaviour 21.1).
pub(super) fn check(path: &str, retired: &[String]) -> Result<(), ApiError> {
    let version = path.strip_prefix('/').and_then(|it| it.split('/').next()).unwrap_or_default();
    if !version.is_empty() && retired.iter().any(|it| it == version) {
        Err(ApiError::gone())
    } else if version == CURRENT {
        Ok(())
    } else {
        Err(ApiError::not_found("there is no such version of the API"))
    }
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
    }
}
