//! Each field of each endpoint with every value that its kind rejects (behaviour 2.3, 8).

use std::collections::BTreeMap;

use super::endpoints::{Endpoint, UnsetEffect, append_member};
use super::{InputFixture, for_each_input_fixture, reports_field};

#[test]
fn invalid_fields_are_400_and_named_and_change_nothing() {
    for_each_input_fixture(|fixture| {
        fixture.assert_nothing_changes(|| check_invalid_values(fixture));
        fixture.assert_nothing_changes(|| check_unset_required_fields(fixture));
        fixture.assert_nothing_changes(|| check_several_faults(fixture));
        fixture.assert_nothing_changes(|| check_out_of_range_numbers(fixture));
        fixture.assert_nothing_changes(|| check_broken_strings(fixture));
    });
}

/// Sends a body with one invalid field. The error must name the field.
fn assert_field_refused(fixture: &InputFixture<'_>, endpoint: &Endpoint, field: &str, body: &str) {
    let response = fixture.send_to_endpoint(endpoint, body);
    let shown: String = body.chars().take(1_000).collect();
    assert_eq!(response.status, 400, "{} {} {shown}: {}", endpoint.method, endpoint.path, response.body);
    let message = response.expect_error(400);
    assert!(reports_field(&message, field), "{} {} {shown}: {message}", endpoint.method, endpoint.path);
    assert!(message.len() < 2_000, "{message}");
}

/// Checks that an invalid value is 400 and that the error names the field.
fn check_invalid_values(fixture: &InputFixture<'_>) {
    for endpoint in fixture.endpoints() {
        for field in &endpoint.fields {
            for value in field.kind.refused_values() {
                let body = endpoint.body_with_field(field.name, &value);
                assert_field_refused(fixture, &endpoint, field.name, &body);
            }
        }
    }
}

/// Checks that a required field is 400 if it is null, blank or absent.
fn check_unset_required_fields(fixture: &InputFixture<'_>) {
    for endpoint in fixture.endpoints() {
        for field in &endpoint.fields {
            if matches!(field.unset, UnsetEffect::Required | UnsetEffect::Kept) {
                let body = endpoint.body_with_field(field.name, "null");
                assert_field_refused(fixture, &endpoint, field.name, &body);
                if field.kind.is_text() {
                    let body = endpoint.body_with_field(field.name, "\"\"");
                    assert_field_refused(fixture, &endpoint, field.name, &body);
                }
            }
            if field.unset == UnsetEffect::Required {
                let mut body = endpoint.valid_body();
                body.as_object_mut().unwrap().remove(field.name);
                assert_field_refused(fixture, &endpoint, field.name, &body.to_string());
            }
        }
    }
}

/// Checks that one response names every fault.
fn check_several_faults(fixture: &InputFixture<'_>) {
    for endpoint in fixture.endpoints() {
        let all: BTreeMap<&str, Vec<String>> =
            endpoint.fields.iter().map(|field| (field.name, field.kind.refused_values())).collect();
        for round in 0..8 {
            let value = |name: &str| all[name][round * 7 % all[name].len()].as_str();
            let fields: Vec<String> = all.keys().map(|name| format!("\"{name}\":{}", value(name))).collect();
            let body = format!("{{{}}}", fields.join(","));
            let message = fixture.send_to_endpoint(&endpoint, &body).expect_error(400);
            for name in all.keys().filter(|name| !is_rule_violation(&endpoint, name, value(name))) {
                assert!(reports_field(&message, name), "{} {name} {body}: {message}", endpoint.path);
            }
        }
    }
}

/// Whether the value violates a rule that depends on stored data and is therefore checked after the body: the range of
/// points, and whether a long name is the owner's current name.
fn is_rule_violation(endpoint: &Endpoint, field: &str, value: &str) -> bool {
    let is_integer = value.parse::<i128>().is_ok();
    let is_long = value.chars().count() > 255;
    (field == "points_per_receiver" && is_integer)
        || (field == "owner_name" && endpoint.method == "PUT" && is_long)
}

/// Checks that out-of-range numbers are 400 in every field.
fn check_out_of_range_numbers(fixture: &InputFixture<'_>) {
    let huge = "9".repeat(400);
    let vast = format!("1{}", "0".repeat(1_000_000));
    for endpoint in fixture.endpoints() {
        for field in &endpoint.fields {
            for number in [huge.as_str(), &format!("-{huge}"), "1e400", "1e999999999999", "-1e400"] {
                fixture
                    .send_to_endpoint(&endpoint, &endpoint.body_with_field(field.name, number))
                    .expect_error(400);
            }
        }
        fixture.send_to_endpoint(&endpoint, &endpoint.body_with_field("unknown", &vast)).expect_error(400);
    }
}

/// Checks that broken strings are 400 in every field.
fn check_broken_strings(fixture: &InputFixture<'_>) {
    let broken = [
        r#""\ud800""#,
        r#""\udc00x""#,
        r#""\ud800\u0041""#,
        r#""\x41""#,
        r#""\u12""#,
        "\"a\nb\"",
        "'x'",
        "\"x",
        "nul",
        "NaN",
        "Infinity",
        "undefined",
        "01",
        "+1",
        ".5",
        "1.",
        "0x1",
        "--1",
        "True",
    ];
    for endpoint in fixture.endpoints() {
        for field in &endpoint.fields {
            for raw in broken {
                fixture
                    .send_to_endpoint(&endpoint, &endpoint.body_with_field(field.name, raw))
                    .expect_error(400);
            }
            let twice =
                append_member(&endpoint.valid_body(), &format!("\"{0}\":\"x\",\"{0}\":\"x\"", field.name));
            fixture.send_to_endpoint(&endpoint, &twice).expect_error(400);
        }
    }
}
