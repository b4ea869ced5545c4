//! The OpenAPI 3.1 document of the API. It is generated from the code that serves requests: the table of routes, the
//! parameters that each operation reads, and the views that it returns. Descriptions and examples come from the doc
//! comments of fields.

mod error_examples;
mod event_schemas;
mod operation_errors;
mod operation_object;
mod statuses;
#[cfg(test)]
mod tests;
mod value_examples;
mod webhook;

use guerdon_api_types::docs;
use schemars::JsonSchema as _;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use self::operation_object::Schemas;
pub use webhook::Webhook;

use crate::endpoints::{ROUTES, TAGS};
use crate::operation::Problem;
use crate::operation::error::ErrorBody;
use crate::operation::list::ListOf;

/// Generates the document; `webhooks` are the events that are sent.
pub fn openapi(webhooks: Vec<Webhook>) -> Value {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.contract = schemars::generate::Contract::Serialize;
    }));
    let operations: Vec<_> = ROUTES.iter().map(|route| (route, (route.describe)(&mut generator))).collect();
    generator.subschema_for::<ErrorBody<'_>>();
    generator.subschema_for::<Problem<'_>>();
    let list = generator.subschema_for::<ListOf<()>>().to_value();
    let mut documented = generator.take_definitions(true);
    let bodies = webhooks.iter().map(|webhook| (webhook.name, &webhook.body));
    event_schemas::add_event_schemas(bodies, &mut documented);
    let mut components = documented.clone();
    finish_components(&mut components);
    let mut paths = Map::new();
    for (route, spec) in operations {
        let path = paths.entry(route.pattern).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            let object = documented.get(&*spec.documented_by).unwrap_or_default();
            let schemas = Schemas { components: &components, objects: &[object, &list] };
            let described = operation_object::describe_operation(route, spec, &schemas);
            path.insert(route.method.to_lowercase(), described);
        }
    }
    let webhooks = webhooks
        .iter()
        .map(|webhook| (webhook.name.to_owned(), webhook::describe_webhook(webhook, &components)));
    let webhooks = webhooks.collect::<Map<_, _>>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Guerdon provider API",
            "version": "1.0",
            "summary": "Companies, users, recognitions and points.",
            "description": format!("{INTRODUCTION}\n\n{ERROR_FORMATS}"),
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The service that serves this document."}],
        "security": [{"basic": []}],
        "tags": TAGS.iter().map(|(name, _, text)| json!({"name": name, "description": text})).collect::<Vec<_>>(),
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": {"basic": {
                "type": "http",
                "scheme": "basic",
                "description": "The API key is the user name, the API secret the password.",
            }},
            "schemas": components,
            "responses": statuses::response_components(),
            "headers": statuses::header_components(),
            "parameters": operation_object::parameter_components(),
        },
    })
}

/// Splits the doc comments of components into descriptions and examples.
fn finish_components(components: &mut Map<String, Value>) {
    for (name, schema) in components {
        if let Value::Object(schema) = schema {
            schema.remove("description"); // written for readers of the code
            if *name == Problem::schema_name() {
                schema.insert("examples".to_owned(), error_examples::list_problems().into());
            }
        }
        docs::split_all_docs(schema);
    }
}

const INTRODUCTION: &str = "Partner companies (*providers*) manage companies, users, occasions, recognitions and points over this API, \
     and receive signed events. Bodies are JSON objects in UTF-8, at most 1 MiB; unknown fields are ignored and named in \
     `X-Ignored-Fields`, or rejected with `Prefer: handling=strict`. Ids are UUIDs, times are UTC with milliseconds. \
     HEAD returns the headers of GET. Operations marked `x-extension` are additions of this service. \
     Fields may be added to responses within a version: ignore fields that you do not know.";

/// The formats of errors. The document has only the default format at each operation.
const ERROR_FORMATS: &str = "The body of an error is an `Error`. A request with `Accept: application/problem+json` gets a `Problem` instead \
     (RFC 9457), which has a stable `code`, the invalid fields and the id of the request. Each example of an error shows the same error \
     as a `Problem` in `x-problem-details`.";
