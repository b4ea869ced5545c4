//! The JavaScript program of an example request, which uses the client that the documentation serves.

use super::{ExampleRequest, FieldValue};

/// Returns a program that sends the request and prints the response.
pub(super) fn write_program(request: &ExampleRequest) -> String {
    let path = match &request.path_id {
        Some((variable, end)) => format!("`{}${{env.{variable}}}{end}{}`", request.path_start, request.query),
        None => format!("\"{}{}\"", request.path_start, request.query),
    };
    let body = request.body.as_ref().map(|fields| format!(", {}", write_body(fields))).unwrap_or_default();
    format!(
        "import {{ Client }} from \"./client.mjs\";\n\n\
         const env = process.env;\n\
         const client = new Client(env.URL, env.API_KEY, env.API_SECRET, env.CERTIFICATE);\n\n\
         const result = await client.{}({path}{body});\n\
         console.log(result);",
        request.method.to_lowercase()
    )
}

fn write_body(fields: &[(String, FieldValue)]) -> String {
    let fields = fields.iter().map(|(name, value)| match value {
        FieldValue::Variable(variable) => format!("  {name}: env.{variable},\n"),
        FieldValue::Literal(value) => format!("  {name}: {value},\n"),
    });
    format!("{{\n{}}}", fields.collect::<String>())
}
