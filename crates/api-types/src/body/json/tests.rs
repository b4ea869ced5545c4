use super::*;

const EMPTY: &str = "the body is empty and must be a JSON object";
const NOT_JSON: &str = "the body must be valid JSON in UTF-8, nested at most 127 levels deep";
const NOT_AN_OBJECT: &str = "the body must be a JSON object";
const TWICE: &str = "the body must not contain a field twice";

fn check(body: impl AsRef<[u8]>, expected: Result<usize, &str>) {
    let body = body.as_ref();
    let parsed = parse_object(body);
    let message = |refusal: &InvalidBody| refusal.message.split(": ").next().unwrap_or_default().to_owned();
    let parsed = parsed.as_ref().map(FieldMap::len).map_err(message);
    let expected = expected.map_err(str::to_owned);
    assert_eq!(parsed, expected, "{:?}", String::from_utf8_lossy(&body[..body.len().min(80)]));
}

#[test]
fn a_body_is_one_object() {
    check("{}", Ok(0));
    check(" \r\n\t{\"a\": [1, {\"b\": null}], \"c\": \"d\"} \n", Ok(2));
    check(r#"{"a": "\ud83c\udf89", "\u0000": 1e2, "b": -0, "c": 18446744073709551616}"#, Ok(4));
    check("", Err(EMPTY));
    check(" \r\n ", Err(EMPTY));
    for other in ["[]", "1", "null", "\"{}\"", "true", "[{}]"] {
        check(other, Err(NOT_AN_OBJECT));
    }
}

#[test]
fn the_position_of_an_error_is_reported() {
    let message = |body: &str| parse_object(body.as_bytes()).unwrap_err().to_string();
    assert!(message("{\n  \"a\": 1,\n  b\n}").ends_with(" at line 3, column 3"));
    assert!(message("{\"a\": 1,\n \"a\": 2}").ends_with(": line 2, column 4"));
}

#[test]
fn the_reason_of_a_syntax_error_is_reported_without_the_body() {
    let check = |body: &[u8], reason: &str| {
        let message = parse_object(body).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{NOT_JSON}: {reason}")), "{message}");
        assert!(message.contains(" at line 1, column "), "{message}");
        assert!(!message.contains("secret"), "{message}");
    };
    check(br#"{"secret": "secret",}"#, "trailing comma");
    check(br#"{"secret": ["secret",]}"#, "trailing comma");
    check(br#"{"secret": "secret"} secret"#, "trailing characters");
    check(br#"{"secret" "secret"}"#, "expected `:`");
    check(br#"{"secret": "secret" "secret": 1}"#, "expected `,` or `}`");
    check(br#"{secret: 1}"#, "the name of a field must be a string in double quotes");
    check(br#"{"secret": secret}"#, "expected a value: a string in double quotes, ");
    check(br#"{"secret": trie}"#, "expected `true`, `false` or `null`");
    check(br#"{"secret": "secret"#, "the body ends within a string");
    check(br#"{"secret": "secret""#, "the body ends within an object");
    check(br#"{"secret": ["secret""#, "the body ends within a list");
    check(b"{\"secret\": \"secret\t\"}", "control character (\\u0000-\\u001F) found while parsing a string");
    check(br#"{"secret": "\q"}"#, "invalid escape");
    check(br#"{"secret": "\ud800"}"#, "unexpected end of hex escape");
    check(br#"{"secret": 01}"#, "invalid number");
    check(b"{\"secret\": \"\xff\"}", "invalid UTF-8 or Unicode escape");
    check(format!("{{\"secret\": {}}}", "[".repeat(200)).as_bytes(), "too many nested arrays and objects");
    check(format!("{{\"secret\": 1{}}}", "0".repeat(400)).as_bytes(), "number out of range");
}

#[test]
fn invalid_json_is_rejected() {
    for broken in [
        "{",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{}{}",
        "{} x",
        "{}\0",
        "{\"a\":01}",
        "{\"a\":NaN}",
        "{\"a\":+1}",
        "{\"a\":\"\n\"}",
        r#"{"a":"\ud800"}"#,
        r#"{"a":"\udc00x"}"#,
        "// x\n{}",
        "\u{feff}{}",
    ] {
        check(broken, Err(NOT_JSON));
    }
    check(b"{\"a\":\"\xff\"}", Err(NOT_JSON));
    check(b"\xff\xfe{\0}\0", Err(NOT_JSON));
    check(format!("{{\"a\":1{}}}", "0".repeat(400)), Err(NOT_JSON));
}

#[test]
fn a_key_must_not_repeat_at_any_level() {
    check(r#"{"a":1,"a":1}"#, Err(TWICE));
    check(r#"{"a":1,"\u0061":2}"#, Err(TWICE));
    check(r#"{"x":{"a":1,"a":1}}"#, Err(TWICE));
    check(r#"{"x":[[{"a":1,"b":2,"a":null}]]}"#, Err(TWICE));
    check(r#"{"x":{"a":1,"b":2,"c":3,"c":4}}"#, Err(TWICE));
    check(r#"{"x":{"":1,"":1}}"#, Err(TWICE));
    check(r#"{"a":{"a":{"a":1}}}"#, Ok(1));
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    check(nested(127), Ok(1));
    check(nested(128), Err(NOT_JSON));
    check(nested(500_000), Err(NOT_JSON));
    check("[".repeat(1 << 20), Err(NOT_JSON));
}

#[test]
fn a_hundred_thousand_keys_are_read() {
    let keys: Vec<String> = (0..100_000).map(|number| format!("\"{number}\":1")).collect();
    check(format!("{{{}}}", keys.join(",")), Ok(100_000));
}

#[test]
fn arrays_and_objects_are_checked_but_not_stored() {
    let check = |value: &str, has_nul: bool| {
        let body = format!("{{\"x\": {value}}}");
        let fields = parse_object(body.as_bytes()).unwrap();
        assert_eq!(fields.get("x"), Some(&Field::Composite { has_nul }), "{value}");
    };
    check("[]", false);
    check("{}", false);
    check(r#"[{"": 1}, {"": [true, null, 1.5, -1, "a"]}]"#, false);
    check(r#"[[["\u0000"]]]"#, true);
    check(r#"{"a": {"b\u0000": 1}}"#, true);
}

#[test]
fn scalars_are_read_and_borrow_if_possible() {
    let check = |value: &str, expected: Field<'_>| {
        let body = format!("{{\"x\": {value}}}");
        assert_eq!(parse_object(body.as_bytes()).unwrap().get("x"), Some(&expected), "{value}");
    };
    check("null", Field::Null);
    check("true", Field::Flag(true));
    check("-3", Field::Integer(-3));
    check("9223372036854775807", Field::Integer(i64::MAX));
    check("9223372036854775808", Field::HugeNumber { is_negative: false });
    check("-9223372036854775809", Field::HugeNumber { is_negative: true });
    check("-1e300", Field::HugeNumber { is_negative: true });
    check("1.0", Field::Fraction);
    check(r#""a\n""#, Field::Text("a\n".into()));
    let fields = parse_object(br#"{"x": "plain"}"#).unwrap();
    assert!(matches!(fields.get("x"), Some(Field::Text(Cow::Borrowed("plain")))));
}
