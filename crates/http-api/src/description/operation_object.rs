//! The operation object of one route.

use guerdon_api_types::docs::{self, DocComment};
use guerdon_api_types::parameter::Parameter;
use serde_json::{Map, Value, json};

use super::error_examples::render_examples;
use super::operation_errors::list_operation_errors;
use super::statuses::{ERROR_STATUSES, error_response, header_references};
use super::value_examples::compose_example;
use crate::endpoints::{Route, noun_of, tag_of};
use crate::operation::operation_spec::{IMMUTABLE_FIELDS, OperationSpec};

/// The schemas to which a description refers.
pub(super) struct Schemas<'a> {
    /// All components by name, with the doc comments of their fields split into descriptions and examples.
    pub(super) components: &'a Map<String, Value>,
    /// The schemas with doc comments for fields that the operation's `field_docs` does not describe.
    pub(super) objects: &'a [&'a Value],
}

/// The operation object of OpenAPI.
pub(super) fn describe_operation(route: &Route, spec: OperationSpec, schemas: &Schemas<'_>) -> Value {
    let responses = describe_responses(route, &spec, schemas.components);
    let mut parameters = Vec::new();
    if route.pattern.contains("{id}") {
        parameters.push(path_parameter(route, spec.accepts_domain, schemas.components));
    }
    let doc = |parameter: &Parameter| {
        docs::find_doc(spec.field_docs, schemas.objects, &parameter.name)
            .map(docs::split_doc)
            .unwrap_or_default()
    };
    parameters.extend(
        spec.query_parameters
            .into_iter()
            .map(|query_parameter| parameter_object(doc(&query_parameter), query_parameter)),
    );
    if spec.accepts_idempotency_key {
        parameters.push(parameter_reference("Idempotency-Key"));
    }
    if spec.body.is_some() {
        parameters.push(parameter_reference("Prefer"));
    }
    parameters.push(parameter_reference("X-Request-Id"));
    let mut operation = json!({
        "operationId": spec.name,
        "summary": spec.summary,
        "description": description_text(route, spec.description),
        "tags": [tag_of(route.pattern)],
        "parameters": parameters,
        "responses": responses,
    });
    if let Value::Object(operation) = &mut operation {
        if let Some(body) = spec.body.map(|body| body.parameters) {
            operation.insert("requestBody".to_owned(), request_body(route, body, doc));
        }
        if route.is_extension {
            operation.insert("x-extension".to_owned(), json!(true));
        }
    }
    operation
}

fn describe_responses(route: &Route, spec: &OperationSpec, components: &Map<String, Value>) -> Value {
    let errors = list_operation_errors(route, spec);
    let mut responses = Map::new();
    responses.insert(spec.success_status.to_string(), success_response(route, spec, components));
    for status in ERROR_STATUSES {
        let own_errors: Vec<_> =
            errors.iter().filter(|error| error.status_and_message().0 == status.code).cloned().collect();
        if !status.depends_on_operation() {
            let reference = format!("#/components/responses/{}", status.name);
            responses.insert(status.code.to_string(), json!({"$ref": reference}));
        } else if !own_errors.is_empty() {
            responses.insert(status.code.to_string(), error_response(status, render_examples(own_errors)));
        }
    }
    Value::Object(responses)
}

fn description_text(route: &Route, text: &str) -> String {
    if route.needs_designation {
        format!(
            "{text}\n\nOnly a provider that is designated to manage all domain resources may do this; other providers receive 403."
        )
    } else {
        text.to_owned()
    }
}

fn success_response(route: &Route, spec: &OperationSpec, components: &Map<String, Value>) -> Value {
    let mut own_headers = Vec::new();
    if spec.query_parameters.iter().any(|parameter| parameter.name == "page") {
        own_headers.push("Link");
    }
    // A POST without fields may have a body, too.
    if spec.body.is_some() || route.method == "POST" {
        own_headers.push("X-Ignored-Fields");
    }
    if spec.accepts_idempotency_key {
        own_headers.push("Idempotency-Replayed");
    }
    let meaning = match spec.success_status {
        201 => "Created",
        204 => "No content",
        _ => "Success",
    };
    let mut response = json!({"description": meaning, "headers": header_references(&own_headers)});
    if let (Value::Object(response), true) = (&mut response, spec.success_status != 204) {
        let mut view = spec.response_schema.as_value().clone();
        docs::split_all_docs(&mut view);
        let example = compose_example(&view, components);
        let content = json!({"application/json": {"schema": view, "example": example}});
        response.insert("content".to_owned(), content);
    }
    response
}

/// Describes the parameter `id` of the path. Its example is the id that the examples of responses contain.
fn path_parameter(route: &Route, takes_domain: bool, components: &Map<String, Value>) -> Value {
    let noun = noun_of(route.pattern);
    let mut objects = components.iter().filter(|(name, _)| name.eq_ignore_ascii_case(noun));
    let example = objects.find_map(|(_, object)| object.pointer("/properties/id/examples/0"));
    let (meaning, form) = if takes_domain {
        ("The company's id, or its domain.".to_owned(), json!({"type": "string", "minLength": 1}))
    } else {
        (format!("The {noun}'s id."), json!({"type": "string", "format": "uuid"}))
    };
    json!({"name": "id", "in": "path", "required": true, "description": meaning, "schema": form, "example": example})
}

fn parameter_object((text, example): DocComment, parameter: Parameter) -> Value {
    let mut described = json!({
        "name": parameter.name,
        "in": "query",
        "required": parameter.is_required,
        "schema": schema_of(&parameter),
        "description": text,
    });
    if let (Value::Object(described), Some(example)) = (&mut described, example) {
        described.insert("example".to_owned(), example);
    }
    described
}

fn request_body(route: &Route, parameters: Vec<Parameter>, doc: impl Fn(&Parameter) -> DocComment) -> Value {
    let required: Vec<&str> =
        parameters.iter().filter(|field| field.is_required).map(|field| field.name.as_str()).collect();
    let order: Vec<&str> = parameters.iter().map(|field| field.name.as_str()).collect();
    let properties = parameters.iter().map(|field| {
        let mut form = schema_of(field);
        docs::set_doc(&mut form, doc(field));
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
    let mut example = compose_example(&schema, &Map::new());
    if let (Value::Object(example), "PUT") = (&mut example, route.method) {
        example.retain(|name, _| !IMMUTABLE_FIELDS.contains(&&**name));
    }
    json!({"required": true, "content": {"application/json": {"schema": schema, "example": example}}})
}

/// The JSON Schema of a parameter, including null and its default.
fn schema_of(parameter: &Parameter) -> Value {
    let mut form = parameter.schema.clone();
    if parameter.is_nullable
        && let Some(kind) = form.get("type").cloned()
    {
        form.insert("type".to_owned(), json!([kind, "null"]));
        if let Some(Value::Array(names)) = form.get_mut("enum") {
            names.push(Value::Null);
        }
    }
    if let Some(default) = &parameter.default {
        form.insert("default".to_owned(), default.clone());
    }
    form.to_value()
}

fn parameter_reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/parameters/{name}")})
}

/// The headers that clients may send.
pub(super) fn parameter_components() -> Value {
    let header = |name: &str, text: &str, form: Value, example: &str| json!({"name": name, "in": "header", "required": false, "description": text, "schema": form, "example": example});
    json!({
        "Idempotency-Key": header(
            "Idempotency-Key",
            "Makes the request safe to retry: requests with the same key and the same body are executed once and receive the same response. \
             Use a new key for each operation, such as the id of your order. Successful responses are stored for 72 hours.",
            json!({"type": "string", "pattern": "^[!-~]{1,255}$"}),
            "order-4711",
        ),
        "Prefer": header(
            "Prefer",
            "`handling=strict` rejects unknown fields instead of ignoring them (RFC 7240).",
            json!({"type": "string"}),
            "handling=strict",
        ),
        "X-Request-Id": header(
            "X-Request-Id",
            "Your id for the request: 1 to 128 letters, digits, `_`, `.` and `-`; any other value is replaced.",
            json!({"type": "string"}),
            "checkout-4711",
        ),
    })
}
