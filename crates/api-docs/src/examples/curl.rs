//! The curl command line of an example request.

use super::{ExampleRequest, FieldValue};

/// Returns the command line.
pub(super) fn write_command(request: &ExampleRequest) -> String {
    let mut command = "curl --cacert \"$CERTIFICATE\" --user \"$API_KEY:$API_SECRET\"".to_owned();
    if !matches!(&*request.method, "GET" | "POST") {
        command.push_str(&format!(" \\\n  -X {}", request.method));
    }
    let id = request.path_id.as_ref().map(|(variable, end)| format!("${variable}{end}")).unwrap_or_default();
    command.push_str(&format!(" \\\n  \"$URL{}{id}{}\"", request.path_start, request.query));
    match &request.body {
        Some(fields) => {
            let body = write_body(fields);
            command.push_str(&format!(" \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"));
        }
        None if request.method == "POST" => command.push_str(" \\\n  -d ''"),
        None => {}
    }
    command
}

/// Returns the body for use within single quotes.
fn write_body(fields: &[(String, FieldValue)]) -> String {
    let fields = fields.iter().map(|(name, value)| {
        let value = match value {
            FieldValue::Variable(variable) => format!("\"'\"${variable}\"'\""),
            FieldValue::Literal(value) => value.to_string().replace('\'', r"'\''"),
        };
        format!("\"{name}\": {value}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(",\n       "))
}
