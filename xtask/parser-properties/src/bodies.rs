//! Bodies of requests, and rows of an import, which have the same fields.

use std::sync::OnceLock;

use guerdon_api_types::Fields;
use guerdon_api_types::requests::{parse_imported_changes, parse_imported_profile};
use guerdon_domain::values::CompanyId;
use guerdon_http_api::testing::{BodyReader, body_readers};
use serde_json::{Map, Value};

use crate::with_text;

/// The company of imported users.
const COMPANY: &str = "019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44";

pub(crate) fn check_body(input: &[u8]) {
    static READERS: OnceLock<Vec<BodyReader>> = OnceLock::new();
    let readers = READERS.get_or_init(body_readers);
    let is_object = serde_json::from_slice::<Map<String, Value>>(input).is_ok();
    if Fields::parse(input).is_ok() {
        assert!(is_object, "another JSON parser refuses the body");
    }
    for is_accepted_by in readers {
        assert!(is_object || !is_accepted_by(input), "an operation accepts a body that is not an object");
    }
}

/// The first byte selects the format and the number of rows in a part.
pub(crate) fn check_import(input: &[u8]) {
    let Some((choice, text)) = input.split_first() else { return };
    with_text(text, |text| {
        let rows = guerdon_server::testing::read_import(text, choice % 2 == 0, usize::from(choice / 2));
        let Ok([whole, in_parts]) = rows else { return };
        assert_eq!(whole, in_parts, "rows of the whole file and of its parts");
        let Ok(company) = COMPANY.parse::<CompanyId>() else { return };
        for fields in whole.into_iter().filter_map(|(_, fields)| fields.ok()) {
            drop(parse_imported_profile(company, &fields));
            drop(parse_imported_changes(&fields));
        }
    });
}
