//! The OpenAPI 3.1 document of the API. It is generated from the code that serves requests: the table of routes, the
//! parameters that each operation reads, and the views that it returns. Descriptions and examples come from the doc comments
//! of fields.

mod error_examples;
mod operation_object;
mod statuses;
#[cfg(test)]
mod tests;
mod webhook;

pub(crate) use operation_object::OperationSpec;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
pub use webhook::Webhook;

use crate::endpoints::{ROUTES, TAGS};
use crate::operation::error::ErrorBody;
use crate::operation::list::ListOf;
use crate::operation::problem::Problem;
use guerdon_api_types::docs;

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
    let mut schemas = generator.take_definitions(true);
    let mut paths = Map::new();
    for (route, spec) in operations {
        let path = paths.entry(route.pattern).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            let object = schemas.get(&*spec.documented_by).unwrap_or_default();
            let described = operation_object::describe_operation(route, spec, &[object, &list]);
            path.insert(route.method.to_lowercase(), described);
        }
    }
    let webhooks = webhooks
        .into_iter()
        .map(|webhook| (webhook.name.to_owned(), webhook::describe_webhook(webhook, &schemas)));
    let webhooks = webhooks.collect::<Map<_, _>>();
    for schema in schemas.values_mut() {
        if let Value::Object(schema) = schema {
            schema.remove("description"); // written for readers of the code
        }
        docs::split_all_docs(schema);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Guerdon provider API",
            "version": "1.0",
            "summary": "Companies, users, recognitions and points.",
            "description": INTRODUCTION,
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The service that serves this document."}],
        "security": [{"basic": []}],
        "tags": TAGS.iter().map(|(name, text)| json!({"name": name, "description": text})).collect::<Vec<_>>(),
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": {"basic": {
                "type": "http",
                "scheme": "basic",
                "description": "The API key is the user name, the API secret the password.",
            }},
            "schemas": schemas,
            "responses": statuses::response_components(),
            "headers": statuses::header_components(),
            "parameters": operation_object::parameter_components(),
        },
    })
}

const INTRODUCTION: &str = "Partner companies (*providers*) manage companies, users, occasions, recognitions and points over this API, \
     and receive signed events. Bodies are JSON objects in UTF-8, at most 1 MiB; unknown fields are ignored and named in \
     `X-Ignored-Fields`, or rejected with `Prefer: handling=strict`. Ids are UUIDs, times are UTC with milliseconds. \
     HEAD returns the headers of GET. Operations marked `x-extension` are additions of this service. \
     Fields may be added to responses within a version: ignore fields that you do not know.";
