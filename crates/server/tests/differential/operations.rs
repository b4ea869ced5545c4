//! The operations of the API that the generator uses.

use super::values::ValueKind::{self, *};

/// An endpoint and its possible parameters and fields.
pub struct OperationSpec {
    pub method: &'static str,
    /// The path. The name in braces is the kind of object whose id replaces it.
    pub path: &'static str,
    pub query: &'static [(&'static str, ValueKind)],
    pub fields: &'static [FieldSpec],
    /// The relative frequency of the operation.
    pub weight: usize,
}

/// A field of a body.
pub struct FieldSpec {
    pub name: &'static str,
    pub kind: ValueKind,
    pub required: bool,
}

const fn required_field(name: &'static str, kind: ValueKind) -> FieldSpec {
    FieldSpec { name, kind, required: true }
}

const fn optional_field(name: &'static str, kind: ValueKind) -> FieldSpec {
    FieldSpec { name, kind, required: false }
}

const fn with_body(
    method: &'static str,
    path: &'static str,
    weight: usize,
    fields: &'static [FieldSpec],
) -> OperationSpec {
    OperationSpec { method, path, query: &[], fields, weight }
}

const fn without_body(
    method: &'static str,
    path: &'static str,
    weight: usize,
    query: &'static [(&'static str, ValueKind)],
) -> OperationSpec {
    OperationSpec { method, path, query, fields: &[], weight }
}

const PAGES: &[(&str, ValueKind)] = &[("page", PageNumber), ("per_page", PageNumber)];
const COMPANIES: &[(&str, ValueKind)] =
    &[("page", PageNumber), ("per_page", PageNumber), ("corporation_id", Corporation)];
const USERS: &[(&str, ValueKind)] =
    &[("page", PageNumber), ("per_page", PageNumber), ("email", Email), ("include_deleted", Flag)];
const TRANSACTIONS: &[(&str, ValueKind)] =
    &[("type", WalletType), ("page", PageNumber), ("per_page", PageNumber)];

pub static OPERATIONS: &[OperationSpec] = &[
    with_body("POST", "/v1/companies", 5, COMPANY),
    without_body("GET", "/v1/companies", 3, COMPANIES),
    without_body("GET", "/v1/companies/{company}", 3, &[]),
    with_body("PUT", "/v1/companies/{company}", 12, COMPANY_CHANGE),
    without_body("GET", "/v1/companies/{company}/users/balances", 4, PAGES),
    without_body("GET", "/v1/companies/{company}/occasions", 3, PAGES),
    with_body("PUT", "/v1/companies/{company}/saml", 6, SAML),
    without_body("GET", "/v1/companies/{company}/saml", 2, &[]),
    without_body("GET", "/v1/companies/{company}/users", 4, USERS),
    without_body("GET", "/v1/companies/{company}/reserve", 3, &[]),
    without_body("GET", "/v1/companies/{company}/reserve/transactions", 3, PAGES),
    with_body(
        "POST",
        "/v1/companies/{company}/rate_preview",
        3,
        &[required_field("points_per_dollar", Rate)],
    ),
    with_body("POST", "/v1/corporations", 3, &[required_field("name", Line)]),
    without_body("GET", "/v1/corporations", 2, PAGES),
    without_body("GET", "/v1/corporations/{corporation}", 2, &[]),
    without_body("GET", "/v1/corporations/{corporation}/companies", 2, PAGES),
    with_body("PUT", "/v1/corporations/{corporation}", 3, &[optional_field("name", Line)]),
    with_body("POST", "/v1/occasions", 5, OCCASION),
    without_body("GET", "/v1/occasions/{occasion}", 2, &[]),
    with_body("PUT", "/v1/occasions/{occasion}", 6, OCCASION_CHANGE),
    without_body("DELETE", "/v1/occasions/{occasion}", 1, &[]),
    with_body("POST", "/v1/recognitions", 20, RECOGNITION),
    with_body("POST", "/v1/recognitions/dry_run", 8, RECOGNITION),
    without_body("GET", "/v1/recognitions/{recognition}", 3, &[]),
    with_body("POST", "/v1/users", 10, USER),
    without_body("GET", "/v1/users/{user}", 3, &[]),
    with_body("PUT", "/v1/users/{user}", 14, USER),
    without_body("DELETE", "/v1/users/{user}", 2, &[]),
    without_body("GET", "/v1/users/{user}/balances", 4, &[]),
    without_body("GET", "/v1/users/{user}/transactions", 5, TRANSACTIONS),
    without_body("GET", "/v1/users/{user}/recognitions_received", 3, PAGES),
    without_body("GET", "/v1/users/{user}/recognitions_sent", 3, PAGES),
];

const COMPANY: &[FieldSpec] = &[
    required_field("domain", Domain),
    required_field("company_name", Line),
    required_field("owner_email", Email),
    required_field("owner_name", Line),
    required_field("logo_url", Url),
    optional_field("corporation_id", Corporation),
    optional_field("points_per_dollar", Rate),
    optional_field("reserve_alert", Points),
    optional_field("reserve_bcc", Email),
];

const COMPANY_CHANGE: &[FieldSpec] = &[
    optional_field("company_name", Line),
    optional_field("owner_email", Email),
    optional_field("owner_name", Line),
    optional_field("logo_url", Url),
    optional_field("points_per_dollar", Rate),
    optional_field("reserve_alert", Points),
    optional_field("reserve_bcc", Email),
];

const SAML: &[FieldSpec] = &[
    optional_field("idp_id", Line),
    optional_field("idp_url", Url),
    optional_field("idp_certificate", Certificate),
    optional_field("active", Flag),
];

const OCCASION: &[FieldSpec] = &[
    required_field("company_id", Company),
    required_field("name", Line),
    required_field("title", Line),
    required_field("default_message", Message),
    optional_field("enabled", Flag),
    optional_field("visible", Flag),
];

const OCCASION_CHANGE: &[FieldSpec] = &[
    optional_field("name", Line),
    optional_field("title", Line),
    optional_field("default_message", Message),
    optional_field("enabled", Flag),
    optional_field("visible", Flag),
];

const RECOGNITION: &[FieldSpec] = &[
    required_field("occasion_id", Occasion),
    required_field("sender_type", SenderType),
    required_field("sender_id", Sender),
    required_field("receiver_ids", Receivers),
    required_field("points_per_receiver", Points),
    optional_field("message", Message),
    optional_field("share", Flag),
];

/// The fields of a new user. An update has the same fields (behaviour 13.3).
const USER: &[FieldSpec] = &[
    required_field("company_id", Company),
    required_field("email", Email),
    required_field("first_name", Line),
    required_field("last_name", Line),
    optional_field("department", Line),
    optional_field("title", Line),
    optional_field("supervisor_email", Email),
    optional_field("employee_id", Line),
    optional_field("birthday", Birthday),
    optional_field("country_code", Country),
    optional_field("work_start_date", Date),
    optional_field("office_city", Line),
    optional_field("office_state", Line),
    optional_field("office_country", Line),
    optional_field("manager", Flag),
    optional_field("company_admin", Flag),
    optional_field("corporation_admin", Flag),
    optional_field("groups", Groups),
    optional_field("custom_field_1", Line),
    optional_field("custom_field_2", Line),
    optional_field("custom_field_3", Line),
    optional_field("custom_field_4", Line),
    optional_field("custom_field_5", Line),
];

#[test]
fn the_generator_knows_every_route() {
    let kinds = ["{company}", "{corporation}", "{occasion}", "{recognition}", "{user}"];
    let pattern = |path: &str| kinds.iter().fold(path.to_owned(), |path, kind| path.replace(kind, "{id}"));
    let mut known: Vec<_> =
        OPERATIONS.iter().map(|operation| (operation.method, pattern(operation.path))).collect();
    // The positions of events differ between databases. `extensions` tests these routes.
    let routes = guerdon_http_api::ROUTES.iter().filter(|route| !route.pattern.starts_with("/v1/events"));
    let mut routes: Vec<_> = routes.map(|route| (route.method, route.pattern.to_owned())).collect();
    known.sort();
    routes.sort();
    assert_eq!(known, routes);
}
