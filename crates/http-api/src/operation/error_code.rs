//! The stable codes with which programs distinguish errors (behaviour 5.7). The guide `docs/guides/errors.md` has a
//! section about each code.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// Defines the codes from one table. The doc comment of a code is its meaning in the API description.
macro_rules! error_codes {
    ($(#[doc = $meaning:literal] $variant:ident, $name:literal, $status:ident;)+) => {
        /// Why a request failed. A code always has the same status and never changes its meaning. New codes can be
        /// added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub(crate) enum ErrorCode {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)+
        }

        impl ErrorCode {
            /// All codes, in the order of the documentation.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it appears in responses.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The status of every response with this code.
            pub(crate) const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)+ }
            }

            /// The meaning in one sentence.
            pub(crate) const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning.trim_ascii(),)+ }
            }
        }
    };
}

error_codes! {
    /// The request came over plain HTTP.
    HttpsRequired, "https_required", FORBIDDEN;
    /// The API credentials are missing or invalid.
    Unauthorized, "unauthorized", UNAUTHORIZED;
    /// The request names an object of another provider, or needs a permission that the provider does not have.
    Forbidden, "forbidden", FORBIDDEN;
    /// The path, or an object that the request names, does not exist.
    NotFound, "not_found", NOT_FOUND;
    /// The path does not support the method.
    MethodNotAllowed, "method_not_allowed", METHOD_NOT_ALLOWED;
    /// The request breaks a rule about its form, its headers or its fields.
    InvalidRequest, "invalid_request", BAD_REQUEST;
    /// No wallet of the sender covers the total.
    InsufficientFunds, "insufficient_funds", BAD_REQUEST;
    /// The points of a recognition are outside the permitted range.
    PointsOutOfRange, "points_out_of_range", BAD_REQUEST;
    /// A company with the domain exists.
    DomainTaken, "domain_taken", BAD_REQUEST;
    /// An active user of the company has the email address.
    EmailTaken, "email_taken", BAD_REQUEST;
    /// The idempotency key was used for another request.
    IdempotencyKeyReused, "idempotency_key_reused", BAD_REQUEST;
    /// The version of the API is no longer served.
    VersionRetired, "version_retired", GONE;
    /// The provider sent more requests than its rate limit allows.
    RateLimited, "rate_limited", TOO_MANY_REQUESTS;
    /// Too many requests with invalid credentials came from the address or with the API key.
    LoginRateLimited, "login_rate_limited", TOO_MANY_REQUESTS;
    /// The operator has put the service into maintenance.
    Maintenance, "maintenance", SERVICE_UNAVAILABLE;
    /// The service is overloaded, or its database is unavailable.
    Unavailable, "unavailable", SERVICE_UNAVAILABLE;
    /// The service failed.
    Internal, "internal", INTERNAL_SERVER_ERROR;
}

impl JsonSchema for ErrorCode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::ALL.iter().map(|code| code.name()).collect();
        json_schema!({"type": "string", "enum": names})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sections of the guide: the code in the heading, and the text.
    fn guide_sections() -> Vec<(&'static str, &'static str)> {
        let guide = include_str!("../../../../docs/guides/errors.md");
        let sections = guide.split("\n## `").skip(1).filter_map(|section| section.split_once("`\n"));
        sections.collect()
    }

    #[test]
    fn the_guide_has_a_section_about_each_code_in_the_same_order() {
        let headings: Vec<&str> = guide_sections().iter().map(|(heading, _)| *heading).collect();
        let names: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(headings, names);
    }

    #[test]
    fn each_section_begins_with_the_status_and_the_meaning() {
        for (code, (_, text)) in ErrorCode::ALL.iter().zip(guide_sections()) {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let expected = format!("Status {}. {}", code.status().as_u16(), code.meaning());
            assert!(text.starts_with(&expected), "{}: {text} does not begin with {expected}", code.name());
        }
    }

    #[test]
    fn codes_are_rendered_by_their_names() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        }
    }
}
