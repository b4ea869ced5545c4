//! The reference: each operation with its fields, responses, errors and a curl command line.

use maud::{Markup, html};
use serde_json::Value;

use super::curl;
use super::forms::{example, fields, in_words, list, required, resolved};
use super::guides::render as markdown;

/// The operations with the same tag.
pub(crate) struct Chapter {
    pub(crate) name: String,
    about: String,
    operations: Vec<Operation>,
}

struct Operation {
    method: String,
    path: String,
    told: Value,
}

impl Chapter {
    pub(crate) fn path(&self) -> String {
        format!("/docs/reference/{}", self.name.to_lowercase())
    }
}

/// Returns the chapters of a description, in the order of its tags.
pub(crate) fn chapters(description: &Value) -> Vec<Chapter> {
    let chapter = |tag: &Value| {
        let text = |key| tag.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = text("name");
        let operations =
            operations(description).into_iter().filter(|operation| is_of(&operation.told, &name)).collect();
        Chapter { name, about: text("description"), operations }
    };
    list(description, "tags").map(chapter).collect()
}

fn is_of(operation: &Value, tag: &str) -> bool {
    operation.pointer("/tags/0").is_some_and(|first| first == tag)
}

fn operations(description: &Value) -> Vec<Operation> {
    let mut all = Vec::new();
    for (kind, operations) in object(description, "paths").chain(object(description, "webhooks")) {
        for method in ["post", "get", "put", "delete"] {
            if let Some(told) = operations.get(method) {
                all.push(Operation { method: method.to_uppercase(), path: kind.clone(), told: told.clone() });
            }
        }
    }
    all
}

fn object<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.get(key).and_then(Value::as_object).into_iter().flatten()
}

pub(crate) fn render(chapter: &Chapter, description: &Value) -> Markup {
    html! {
        h1 { (chapter.name) }
        p { (chapter.about) }
        ul {
            @for it in &chapter.operations {
                li { a href=(format!("#{}", text(&it.told, "operationId"))) { (text(&it.told, "summary")) } }
            }
        }
        @for it in &chapter.operations { (operation(it, description)) }
    }
}

fn operation(it: &Operation, description: &Value) -> Markup {
    let is_webhook = !it.path.starts_with('/');
    let told = &it.told;
    html! {
        h2 id=(text(told, "operationId")) { (text(told, "summary")) }
        p.endpoint {
            @if is_webhook { code { (it.path) } } @else { span.method { (it.method) } code { (it.path) } }
        }
        (markdown(text(told, "description")))
        @if told.get("x-extension").is_some() {
            p.note { "Extension of this service." }
        }
        @if !is_webhook {
            h3 { "curl" }
            pre tabindex="0" { code.curl { (curl::line(&it.method, &it.path, told)) } }
        }
        (parameters(told, description))
        @if let Some(schema) = told.pointer("/requestBody/content/application~1json/schema") {
            h3 { @if is_webhook { "Payload" } @else { "Request body" } }
            (table(schema, description))
            @if is_webhook { (listing(&example(description, schema))) }
        }
        (answers(told, description))
    }
}

fn parameters(told: &Value, description: &Value) -> Markup {
    let all: Vec<&Value> =
        list(told, "parameters").map(|parameter| resolved(description, parameter)).collect();
    html! {
        @if !all.is_empty() {
            h3 { "Parameters" }
            div.table {
                table {
                    thead { tr { th { "Name" } th { "In" } th { "Description" } } }
                    tbody {
                        @for it in all {
                            tr {
                                td { code { (text(it, "name")) } (must(it.get("required") == Some(&Value::Bool(true)))) }
                                td { (text(it, "in")) }
                                td {
                                    (markdown(text(it, "description")))
                                    span.form { (in_words(description, it.get("schema").unwrap_or(&Value::Null))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn must(is_required: bool) -> Markup {
    html! { @if is_required { " " span.must { "required" } } }
}

/// Renders a table of an object's fields, followed by a table for each nested object.
fn table(schema: &Value, description: &Value) -> Markup {
    let schema = resolved(description, schema);
    let required = required(schema);
    let is_sent = schema.get("x-order").is_some();
    html! {
        div.table {
            table {
                thead { tr { th { "Field" } th { "Description" } } }
                tbody {
                    @for (name, it) in fields(schema) {
                        tr {
                            td { code { (name) } (must(is_sent && required.contains(&name))) }
                            td {
                                (markdown(text(it, "description")))
                                span.form { (in_words(description, it)) }
                            }
                        }
                    }
                }
            }
        }
        @for (_, it) in fields(schema) {
            @if let Some((name, within)) = within(it) {
                @if !name.is_empty() { p { "Fields of " code { (name) } ":" } }
                (table(within, description))
            }
        }
    }
}

/// Returns the object that a field holds, directly or in a list.
fn within(field: &Value) -> Option<(String, &Value)> {
    let held = field.get("items").unwrap_or(field);
    let name =
        held.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    (held.get("$ref").is_some() || held.get("properties").is_some()).then(|| (name.to_owned(), held))
}

fn answers(told: &Value, description: &Value) -> Markup {
    let all: Vec<(&String, &Value)> = object(told, "responses").collect();
    let success = all.iter().find(|(status, _)| status.starts_with('2'));
    let schema = success.and_then(|(_, response)| response.pointer("/content/application~1json/schema"));
    html! {
        @if let (Some((status, _)), Some(schema)) = (success, schema) {
            h3 { "Response " (status) }
            (listing(&example(description, schema)))
            details { summary { "Fields of the response" } (table(schema, description)) }
        }
        h3 { "Statuses" }
        div.table {
            table {
                thead { tr { th { "Status" } th { "Meaning" } } }
                tbody {
                    @for (status, it) in all {
                        tr {
                            td { (status) }
                            td { (markdown(text(resolved(description, it), "description"))) }
                        }
                    }
                }
            }
        }
    }
}

fn listing(text: &str) -> Markup {
    html! { pre tabindex="0" { code.json { (text) } } }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
