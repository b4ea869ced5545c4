//! An operation's example request in each language, with the variables that `guerdon dev` prints.

mod curl;
mod javascript;
mod python;

use serde_json::Value;

use crate::schemas::{example_value, list_items, ordered_fields, required_fields};

/// An example request.
pub(crate) struct ExampleRequest {
    /// In upper case.
    method: String,
    /// The part of the path before the id, and, if there is an id, its variable and the part after it.
    path_start: String,
    path_id: Option<(&'static str, String)>,
    /// `?` and the required parameters, or empty.
    query: String,
    /// The fields of the body; `None` if the operation reads none.
    body: Option<Vec<(String, FieldValue)>>,
}

enum FieldValue {
    /// The name of an environment variable.
    Variable(&'static str),
    Literal(Value),
}

impl ExampleRequest {
    pub(crate) fn new(method: &str, path: &str, operation: &Value) -> Self {
        let relative_path = path.trim_start_matches("/v1");
        let (path_start, path_id) = match relative_path.split_once("{id}") {
            Some((start, end)) => (start, Some((path_variable(method, relative_path), end.to_owned()))),
            None => (relative_path, None),
        };
        Self {
            method: method.to_owned(),
            path_start: path_start.to_owned(),
            path_id,
            query: required_query(operation),
            body: example_body(operation),
        }
    }

    /// A GET request for a path without an id. `query` begins with `?`.
    pub(crate) fn get(path: &str, query: &str) -> Self {
        let request = Self::new("GET", path, &Value::Null);
        Self { query: query.to_owned(), ..request }
    }

    /// Returns adjacent Markdown code blocks, one for each language.
    pub(crate) fn to_markdown(&self) -> String {
        format!(
            "```sh\n{}\n```\n\n```python\n{}\n```\n\n```javascript\n{}\n```\n\n",
            curl::write_command(self),
            python::write_program(self),
            javascript::write_program(self)
        )
    }
}

/// Returns the variable for an id in this field.
fn id_variable(field: &str) -> Option<&'static str> {
    Some(match field {
        "company_id" => "COMPANY_ID",
        "corporation_id" => "CORPORATION_ID",
        "occasion_id" => "OCCASION_ID",
        "sender_id" => "USER_ID",
        "receiver_ids" => "RECEIVER_ID",
        _ => return None,
    })
}

/// Returns the variable for an id in this path. An example of a deletion uses an object that no other example needs.
fn path_variable(method: &str, path: &str) -> &'static str {
    match (path.split('/').nth(1), method) {
        (Some("companies"), _) => "COMPANY_ID",
        (Some("corporations"), _) => "CORPORATION_ID",
        (Some("occasions"), "DELETE") => "EXTRA_OCCASION_ID",
        (Some("occasions"), _) => "OCCASION_ID",
        (Some("recognitions"), _) => "RECOGNITION_ID",
        (Some("users"), "DELETE") => "EXTRA_USER_ID",
        (Some("users"), _) => "USER_ID",
        _ => "EVENT_ID",
    }
}

/// Returns the required query parameters.
fn required_query(operation: &Value) -> String {
    let required_parameters = list_items(operation, "parameters").filter(|parameter| {
        parameter.get("in").is_some_and(|location| location == "query")
            && parameter.get("required") == Some(&Value::Bool(true))
    });
    let pairs: Vec<String> = required_parameters
        .filter_map(|parameter| {
            let name = parameter.get("name")?.as_str()?;
            let value = parameter.get("example").or_else(|| parameter.get("schema")?.get("enum")?.get(0))?;
            Some(format!("{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        })
        .collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// Returns a body with the required fields; if no field is required, the body has the first field that can be changed.
fn example_body(operation: &Value) -> Option<Vec<(String, FieldValue)>> {
    let schema = operation.pointer("/requestBody/content/application~1json/schema")?;
    let required = required_fields(schema);
    let is_wanted = |name: &str| {
        if required.is_empty() {
            is_harmless(name)
        } else {
            required.contains(&name) || is_worth_showing(name)
        }
    };
    let chosen_fields =
        ordered_fields(schema).into_iter().filter(|(name, _)| is_wanted(name)).map(|(name, field)| {
            let value = match id_variable(name) {
                Some(variable) => FieldValue::Variable(variable),
                None => FieldValue::Literal(example_value(field)),
            };
            (name.to_owned(), value)
        });
    Some(chosen_fields.take(if required.is_empty() { 1 } else { usize::MAX }).collect())
}

/// Whether an update can set this field to its example without conflicting with objects created from other examples.
fn is_harmless(name: &str) -> bool {
    !["domain", "company_id", "email", "active"].contains(&name)
}

/// Whether an optional field is shown because it is the purpose of the operation.
fn is_worth_showing(name: &str) -> bool {
    name == "message"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dry_run() -> ExampleRequest {
        let schema = json!({
            "properties": {
                "sender_id": {"type": "string"},
                "message": {"examples": ["It's done"]},
                "share": {"examples": [true]},
            },
            "required": ["sender_id", "share"],
        });
        let operation = json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
        ExampleRequest::new("POST", "/v1/recognitions/dry_run", &operation)
    }

    #[test]
    fn a_body_names_variables_and_literals_in_each_language() {
        assert_eq!(
            curl::write_command(&dry_run()),
            "curl --cacert \"$CERTIFICATE\" --user \"$API_KEY:$API_SECRET\" \\\n  \"$URL/recognitions/dry_run\" \\\n  \
             -H 'Content-Type: application/json' \\\n  -d '{\"sender_id\": \"'\"$USER_ID\"'\",\n       \
             \"share\": true,\n       \"message\": \"It'\\''s done\"}'"
        );
        let python = python::write_program(&dry_run());
        let call = "result = client.post(\"/recognitions/dry_run\", {\n    \"sender_id\": env[\"USER_ID\"],\n    \
                    \"share\": True,\n    \"message\": \"It's done\",\n})\n";
        assert!(python.contains(call), "{python}");
        let javascript = javascript::write_program(&dry_run());
        let call = "const result = await client.post(\"/recognitions/dry_run\", {\n  sender_id: env.USER_ID,\n  \
                    share: true,\n  message: \"It's done\",\n});\n";
        assert!(javascript.contains(call), "{javascript}");
    }

    #[test]
    fn an_id_in_the_path_is_a_variable_in_each_language() {
        let parameters = json!({"parameters": [{"in": "query", "required": true, "name": "type", "example": "peer_wallet"}]});
        let request = ExampleRequest::new("GET", "/v1/users/{id}/transactions", &parameters);
        let check = |program: String, call: &str| assert!(program.contains(call), "{program}");
        check(curl::write_command(&request), "\"$URL/users/$USER_ID/transactions?type=peer_wallet\"");
        check(
            python::write_program(&request),
            "client.get(f\"/users/{env['USER_ID']}/transactions?type=peer_wallet\")",
        );
        check(
            javascript::write_program(&request),
            "client.get(`/users/${env.USER_ID}/transactions?type=peer_wallet`)",
        );
    }

    #[test]
    fn a_post_without_fields_sends_an_empty_body() {
        let request = ExampleRequest::new("POST", "/v1/events/{id}/replay", &json!({}));
        assert!(curl::write_command(&request).ends_with("-d ''"));
        assert!(python::write_program(&request).contains("/replay\", None)"));
        assert!(javascript::write_program(&request).contains("/replay`)"));
    }
}
