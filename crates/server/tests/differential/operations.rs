//! The operations of the API that the generator uses.

use super::values::Kind::{self, *};

/// An endpoint and its possible parameters and fields.
pub struct Operation {
    pub method: &'static str,
    /// The name in braces is the kind of object that the path names.
    pub path: &'static str,
    pub query: &'static [(&'static str, Kind)],
    pub fields: &'static [Field],
    /// The relative frequency of the operation.
    pub weight: usize,
}

/// A field of a body.
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
}

const fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true }
}

const fn optional(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false }
}

const fn with_body(
    method: &'static str,
    path: &'static str,
    weight: usize,
    fields: &'static [Field],
) -> Operation {
    Operation { method, path, query: &[], fields, weight }
}

const fn bare(
    method: &'static str,
    path: &'static str,
    weight: usize,
    query: &'static [(&'static str, Kind)],
) -> Operation {
    Operation { method, path, query, fields: &[], weight }
}

const PAGES: &[(&str, Kind)] = &[("page", PageNumber), ("per_page", PageNumber)];
const COMPANIES: &[(&str, Kind)] =
    &[("page", PageNumber), ("per_page", PageNumber), ("corporation_id", Corporation)];
const USERS: &[(&str, Kind)] =
    &[("page", PageNumber), ("per_page", PageNumber), ("email", Email), ("include_deleted", Flag)];
const TRANSACTIONS: &[(&str, Kind)] = &[("type", WalletType), ("page", PageNumber), ("per_page", PageNumber)];

pub static OPERATIONS: &[Operation] = &[
    with_body("POST", "/v1/companies", 5, COMPANY),
    bare("GET", "/v1/companies", 3, COMPANIES),
    bare("GET", "/v1/companies/{company}", 3, &[]),
    with_body("PUT", "/v1/companies/{company}", 12, COMPANY_CHANGE),
    bare("GET", "/v1/companies/{company}/users/balances", 4, PAGES),
    bare("GET", "/v1/companies/{company}/occasions", 3, PAGES),
    with_body("PUT", "/v1/companies/{company}/saml", 6, SAML),
    bare("GET", "/v1/companies/{company}/saml", 2, &[]),
    bare("GET", "/v1/companies/{company}/users", 4, USERS),
    bare("GET", "/v1/companies/{company}/reserve", 3, &[]),
    bare("GET", "/v1/companies/{company}/reserve/transactions", 3, PAGES),
    with_body("POST", "/v1/companies/{company}/rate_preview", 3, &[required("points_per_dollar", Rate)]),
    with_body("POST", "/v1/corporations", 3, &[required("name", Line)]),
    bare("GET", "/v1/corporations", 2, PAGES),
    bare("GET", "/v1/corporations/{corporation}", 2, &[]),
    bare("GET", "/v1/corporations/{corporation}/companies", 2, PAGES),
    with_body("PUT", "/v1/corporations/{corporation}", 3, &[optional("name", Line)]),
    with_body("POST", "/v1/occasions", 5, OCCASION),
    bare("GET", "/v1/occasions/{occasion}", 2, &[]),
    with_body("PUT", "/v1/occasions/{occasion}", 6, OCCASION_CHANGE),
    bare("DELETE", "/v1/occasions/{occasion}", 1, &[]),
    with_body("POST", "/v1/recognitions", 20, RECOGNITION),
    with_body("POST", "/v1/recognitions/dry_run", 8, RECOGNITION),
    with_body("POST", "/v1/users", 10, USER),
    bare("GET", "/v1/users/{user}", 3, &[]),
    with_body("PUT", "/v1/users/{user}", 14, USER),
    bare("DELETE", "/v1/users/{user}", 2, &[]),
    bare("GET", "/v1/users/{user}/balances", 4, &[]),
    bare("GET", "/v1/users/{user}/transactions", 5, TRANSACTIONS),
    bare("GET", "/v1/users/{user}/recognitions_received", 3, PAGES),
    bare("GET", "/v1/users/{user}/recognitions_sent", 3, PAGES),
];

const COMPANY: &[Field] = &[
    required("domain", Domain),
    required("company_name", Line),
    required("owner_email", Email),
    required("owner_name", Line),
    required("logo_url", Url),
    optional("corporation_id", Corporation),
    optional("points_per_dollar", Rate),
    optional("reserve_alert", Points),
    optional("reserve_bcc", Email),
];

const COMPANY_CHANGE: &[Field] = &[
    optional("company_name", Line),
    optional("owner_email", Email),
    optional("owner_name", Line),
    optional("logo_url", Url),
    optional("points_per_dollar", Rate),
    optional("reserve_alert", Points),
    optional("reserve_bcc", Email),
];

const SAML: &[Field] = &[
    optional("idp_id", Line),
    optional("idp_url", Url),
    optional("idp_certificate", Certificate),
    optional("active", Flag),
];

const OCCASION: &[Field] = &[
    required("company_id", Company),
    required("name", Line),
    required("title", Line),
    required("default_message", Message),
    optional("enabled", Flag),
    optional("visible", Flag),
];

const OCCASION_CHANGE: &[Field] = &[
    optional("name", Line),
    optional("title", Line),
    optional("default_message", Message),
    optional("enabled", Flag),
    optional("visible", Flag),
];

const RECOGNITION: &[Field] = &[
    required("occasion_id", Occasion),
    required("sender_type", SenderType),
    required("sender_id", Sender),
    required("receiver_ids", Receivers),
    required("points_per_receiver", Points),
    optional("message", Message),
    optional("share", Flag),
];

/// The fields of creation. An update takes the same ones (behaviour 13.3).
const USER: &[Field] = &[
    required("company_id", Company),
    required("email", Email),
    required("first_name", Line),
    required("last_name", Line),
    optional("department", Line),
    optional("title", Line),
    optional("supervisor_email", Email),
    optional("employee_id", Line),
    optional("birthday", Birthday),
    optional("country_code", Country),
    optional("work_start_date", Date),
    optional("office_city", Line),
    optional("office_state", Line),
    optional("office_country", Line),
    optional("manager", Flag),
    optional("company_admin", Flag),
    optional("corporation_admin", Flag),
    optional("groups", Groups),
    optional("custom_field_1", Line),
    optional("custom_field_2", Line),
    optional("custom_field_3", Line),
    optional("custom_field_4", Line),
    optional("custom_field_5", Line),
];

#[test]
fn the_generator_knows_every_route() {
    let kinds = ["{company}", "{corporation}", "{occasion}", "{user}"];
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
