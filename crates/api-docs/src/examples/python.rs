//! The Python program of an example request, which uses the client that the documentation serves.

use serde_json::Value;

use super::{ExampleRequest, FieldValue};

/// Returns a program that sends the request and prints the response.
pub(super) fn write_program(request: &ExampleRequest) -> String {
    let path = match &request.path_id {
        Some((variable, end)) => {
            format!("f\"{}{{env['{variable}']}}{end}{}\"", request.path_start, request.query)
        }
        None => format!("\"{}{}\"", request.path_start, request.query),
    };
    let body = match &request.body {
        Some(fields) => format!(", {}", write_body(fields)),
        None if request.method == "POST" => ", None".to_owned(),
        None => String::new(),
    };
    format!(
        "import os\n\
         from client import Client\n\n\
         env = os.environ\n\
         client = Client(env[\"URL\"], env[\"API_KEY\"], env[\"API_SECRET\"], env.get(\"CERTIFICATE\"))\n\n\
         result = client.{}({path}{body})\n\
         print(result)",
        request.method.to_lowercase()
    )
}

fn write_body(fields: &[(String, FieldValue)]) -> String {
    let fields = fields.iter().map(|(name, value)| {
        let value = match value {
            FieldValue::Variable(variable) => format!("env[\"{variable}\"]"),
            FieldValue::Literal(value) => write_literal(value),
        };
        format!("    \"{name}\": {value},\n")
    });
    format!("{{\n{}}}", fields.collect::<String>())
}

fn write_literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(write_literal).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
