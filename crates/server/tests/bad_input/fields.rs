//! Each field of each endpoint with every value that its kind rejects (behaviour 2.3, 8).

use std::collections::BTreeMap;

use super::endpoints::{Endpoint, Unset, add};
use super::{Bench, names, on_bench};

/// Sends a body with one invalid field. The error must name the field.
fn refused(bench: &Bench<'_>, endpoint: &Endpoint, field: &str, body: &str) {
    let answer = bench.send(endpoint, body);
    let shown: String = body.chars().take(1_000).collect();
    assert_eq!(answer.status, 400, "{} {} {shown}: {}", endpoint.method, endpoint.path, answer.body);
    let message = answer.error(400);
    assert!(names(&message, field), "{} {} {shown}: {message}", endpoint.method, endpoint.path);
    assert!(message.len() < 2_000, "{message}");
}

#[test]
fn an_invalid_value_is_400_and_names_the_field() {
    on_bench(|bench| {
        for endpoint in bench.endpoints() {
            bench.unchanged(|| {
                for field in &endpoint.fields {
                    for value in field.kind.refused() {
                        refused(bench, &endpoint, field.name, &endpoint.with(field.name, &value));
                    }
                }
            });
        }
    });
}

#[test]
fn a_required_field_is_400_if_null_blank_or_absent() {
    on_bench(|bench| {
        for endpoint in bench.endpoints() {
            bench.unchanged(|| {
                for field in &endpoint.fields {
                    if matches!(field.unset, Unset::Required | Unset::Kept) {
                        refused(bench, &endpoint, field.name, &endpoint.with(field.name, "null"));
                        if field.kind.is_text() {
                            refused(bench, &endpoint, field.name, &endpoint.with(field.name, "\"\""));
                        }
                    }
                    if field.unset == Unset::Required {
                        let mut body = endpoint.body();
                        body.as_object_mut().unwrap().remove(field.name);
                        refused(bench, &endpoint, field.name, &body.to_string());
                    }
                }
            });
        }
    });
}

#[test]
fn one_response_names_every_fault() {
    on_bench(|bench| {
        for endpoint in bench.endpoints() {
            bench.unchanged(|| {
                let all: BTreeMap<&str, Vec<String>> =
                    endpoint.fields.iter().map(|field| (field.name, field.kind.refused())).collect();
                for round in 0..8 {
                    let value = |name: &str| all[name][round * 7 % all[name].len()].as_str();
                    let fields: Vec<String> =
                        all.keys().map(|name| format!("\"{name}\":{}", value(name))).collect();
                    let body = format!("{{{}}}", fields.join(","));
                    let message = bench.send(&endpoint, &body).error(400);
                    for name in all.keys().filter(|name| !is_a_rule(&endpoint, name, value(name))) {
                        assert!(names(&message, name), "{} {name} {body}: {message}", endpoint.path);
                    }
                }
            });
        }
    });
}

/// Whether the value violates a rule that depends on stored data and is therefore checked after the body: the range of
/// points, and whether a long name is the owner's current name.
fn is_a_rule(endpoint: &Endpoint, field: &str, value: &str) -> bool {
    let is_integer = value.parse::<i128>().is_ok();
    let is_long = value.chars().count() > 255;
    (field == "points_per_receiver" && is_integer)
        || (field == "owner_name" && endpoint.method == "PUT" && is_long)
}

#[test]
fn out_of_range_numbers_are_400() {
    on_bench(|bench| {
        let huge = "9".repeat(400);
        let vast = format!("1{}", "0".repeat(1_000_000));
        for endpoint in bench.endpoints() {
            bench.unchanged(|| {
                for field in &endpoint.fields {
                    for number in [huge.as_str(), &format!("-{huge}"), "1e400", "1e999999999999", "-1e400"] {
                        bench.send(&endpoint, &endpoint.with(field.name, number)).error(400);
                    }
                }
                bench.send(&endpoint, &endpoint.with("unknown", &vast)).error(400);
            });
        }
    });
}

#[test]
fn broken_strings_are_400_in_every_field() {
    on_bench(|bench| {
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
        for endpoint in bench.endpoints() {
            bench.unchanged(|| {
                for field in &endpoint.fields {
                    for raw in broken {
                        bench.send(&endpoint, &endpoint.with(field.name, raw)).error(400);
                    }
                    let twice = add(&endpoint.body(), &format!("\"{0}\":\"x\",\"{0}\":\"x\"", field.name));
                    bench.send(&endpoint, &twice).error(400);
                }
            });
        }
    });
}
