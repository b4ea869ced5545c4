//! One route in the description.

use std::borrow::Cow;

use schemars::Schema;
use serde_json::{Map, Value, json};

use super::statuses::{REFUSALS, headers};
use crate::endpoints::{Route, noun_of, tag_of};
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::docs::{self, Doc};
use guerdon_api_types::parameter::Parameter;

/// The description of a route's operation.
pub(crate) struct Told {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) text: &'static str,
    /// Whether the path takes a domain in place of the id.
    pub(crate) takes_domain: bool,
    /// The status of its success.
    pub(crate) status: u16,
    pub(crate) query: Vec<Parameter>,
    /// None where it reads no body.
    pub(crate) body: Option<Vec<Parameter>>,
    /// Whether a repeat under the same key is answered as the first was.
    pub(crate) takes_key: bool,
    /// The schema of the response; null if it has no body.
    pub(crate) view: Schema,
    /// The component that describes the fields of the request that `field_docs` does not have.
    pub(crate) documented_by: Cow<'static, str>,
    pub(crate) field_docs: FieldDocs,
}

/// The operation object of OpenAPI. `objects` are the schemas that describe what `field_docs` does not.
pub(super) fn describe(route: &Route, told: Told, objects: &[&Value]) -> Value {
    let is_paged = told.query.iter().any(|parameter| parameter.name == "page");
    let is_id = |parameter: &Parameter| {
        parameter.form.get("format") == Some(&json!("uuid")) || parameter.name == "receiver_ids"
    };
    let names_ids = told.query.iter().chain(told.body.iter().flatten()).any(is_id);
    let may_miss = route.pattern.contains("{id}") || names_ids;
    let mut responses = Map::new();
    responses.insert(told.status.to_string(), success(&told, is_paged));
    for refusal in REFUSALS.iter().filter(|refusal| refusal.code != 404 || may_miss) {
        let reference = format!("#/components/responses/{}", refusal.name);
        responses.insert(refusal.code.to_string(), json!({"$ref": reference}));
    }
    let mut parameters = Vec::new();
    if route.pattern.contains("{id}") {
        parameters.push(id_in_path(route, told.takes_domain));
    }
    let doc = |parameter: &Parameter| {
        docs::find(told.field_docs, objects, &parameter.name).map(docs::split).unwrap_or_default()
    };
    parameters.extend(
        told.query.into_iter().map(|query_parameter| parameter(doc(&query_parameter), query_parameter)),
    );
    if told.takes_key {
        parameters.push(component("Idempotency-Key"));
    }
    if told.body.is_some() {
        parameters.push(component("Prefer"));
    }
    parameters.push(component("X-Request-Id"));
    let mut operation = json!({
        "operationId": told.name,
        "summary": told.summary,
        "description": described(route, told.text),
        "tags": [tag_of(route.pattern)],
        "parameters": parameters,
        "responses": responses,
    });
    if let Value::Object(operation) = &mut operation {
        if let Some(asked) = told.body {
            operation.insert("requestBody".to_owned(), body(asked, doc));
        }
        if route.is_extension {
            operation.insert("x-extension".to_owned(), json!(true));
        }
    }
    operation
}

fn described(route: &Route, text: &str) -> String {
    if route.needs_designation {
        format!(
            "{text}\n\nOnly a provider that is designated to manage all domain resources may do so (else 403)."
        )
    } else {
        text.to_owned()
    }
}

fn success(told: &Told, is_paged: bool) -> Value {
    let mut own = Vec::new();
    if is_paged {
        own.push("Link");
    }
    if told.body.is_some() {
        own.push("X-Ignored-Fields");
    }
    if told.takes_key {
        own.push("Idempotency-Replayed");
    }
    let meaning = match told.status {
        201 => "Created",
        204 => "No content",
        _ => "Success",
    };
    let mut response = json!({"description": meaning, "headers": headers(&own)});
    if let (Value::Object(response), true) = (&mut response, told.status != 204) {
        let mut view = told.view.as_value().clone();
        docs::split_all(&mut view);
        response.insert("content".to_owned(), json!({"application/json": {"schema": view}}));
    }
    response
}

fn id_in_path(route: &Route, takes_domain: bool) -> Value {
    let noun = noun_of(route.pattern);
    let (meaning, form) = if takes_domain {
        ("The company's id, or its domain.".to_owned(), json!({"type": "string", "minLength": 1}))
    } else {
        (format!("The {noun}'s id."), json!({"type": "string", "format": "uuid"}))
    };
    json!({"name": "id", "in": "path", "required": true, "description": meaning, "schema": form})
}

fn parameter((text, example): Doc, asked: Parameter) -> Value {
    let described = json!({
        "name": asked.name,
        "in": "query",
        "required": asked.is_required,
        "schema": form_of(&asked),
        "description": text,
    });
    match example {
        Some(example) => with(described, "example", example),
        None => described,
    }
}

fn body(asked: Vec<Parameter>, doc: impl Fn(&Parameter) -> Doc) -> Value {
    let required: Vec<&str> =
        asked.iter().filter(|field| field.is_required).map(|field| field.name.as_str()).collect();
    let order: Vec<&str> = asked.iter().map(|field| field.name.as_str()).collect();
    let properties = asked.iter().map(|field| {
        let mut form = form_of(field);
        docs::describe(&mut form, doc(field));
        (field.name.clone(), form)
    });
    let mut schema = json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "x-order": order,
    });
    if let (Value::Object(schema), false) = (&mut schema, required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    json!({"required": true, "content": {"application/json": {"schema": schema}}})
}

/// The form of a field, with what stands for its absence.
fn form_of(asked: &Parameter) -> Value {
    let mut form = asked.form.clone();
    if asked.may_be_null
        && let Some(kind) = form.get("type").cloned()
    {
        form.insert("type".to_owned(), json!([kind, "null"]));
        if let Some(Value::Array(names)) = form.get_mut("enum") {
            names.push(Value::Null);
        }
    }
    if let Some(default) = &asked.default {
        form.insert("default".to_owned(), default.clone());
    }
    form.to_value()
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Value::Object(object) = &mut object {
        object.insert(name.to_owned(), value);
    }
    object
}

fn component(name: &str) -> Value {
    json!({"$ref": format!("#/components/parameters/{name}")})
}

/// The headers that clients may send.
pub(super) fn parameter_components() -> Value {
    let header = |name: &str, text: &str, form: Value| {
        let described = json!({"name": name, "in": "header", "required": false, "description": text});
        with(described, "schema", form)
    };
    json!({
        "Idempotency-Key": header(
            "Idempotency-Key",
            "Makes the request safe to retry: requests with the same key and the same body are carried out once and receive the same response. \
             Use a new key for each operation, such as the id of your order. Successful responses are stored for 72 hours.",
            json!({"type": "string", "pattern": "^[!-~]{1,255}$"}),
        ),
        "Prefer": header(
            "Prefer",
            "`handling=strict` rejects unknown fields instead of ignoring them (RFC 7240).",
            json!({"type": "string"}),
        ),
        "X-Request-Id": header(
            "X-Request-Id",
            "Your id for the request: 1 to 128 letters, digits, `_`, `.` and `-`; any other value is replaced.",
            json!({"type": "string"}),
        ),
    })
}
