//! A page for each type of event, with a complete example of its body.

use serde_json::Value;

use crate::examples::ExampleRequest;
use crate::fields::{string_field, write_fields, write_parameters};
use crate::page::{Group, Page};
use crate::schemas::{list_items, render_example};

/// Renders a page for each webhook of the description.
pub(crate) fn render_event_types(description: &Value) -> Vec<Page> {
    let webhooks = description.get("webhooks").and_then(Value::as_object).into_iter().flatten();
    let pages = webhooks.filter_map(|(name, item)| {
        let webhook = item.get("post")?;
        let text = write_event_type(name, webhook, description)?;
        let path = format!("/docs/events/{name}");
        Some(Page::from_markdown(Group::EventTypes, path, name, string_field(webhook, "summary"), &text))
    });
    pages.collect()
}

/// `None` if the webhook has no body.
fn write_event_type(name: &str, webhook: &Value, description: &Value) -> Option<String> {
    let schema = webhook.pointer("/requestBody/content/application~1json/schema")?;
    let headers: Vec<&Value> = list_items(webhook, "parameters").collect();
    Some(format!(
        "# {name}\n\n{}.\n\n\
         The service sends this event as a POST request to your callback URL. [Receiving \
         events](/docs/guides/webhooks) explains how to verify and confirm it. Sent events can be \
         [listed](/docs/reference/events#listEvents), [fetched](/docs/reference/events#getEvent) and \
         [sent again](/docs/reference/events#replayEvent).\n\n\
         ## Example body\n\nThe body is one line; here it is wrapped.\n\n```json\n{}\n```\n\n\
         ## Fields\n\n{}\
         ## Headers\n\n{}\
         ## Test your receiver\n\nThe operator can send an example of this event to your callback URL and see your \
         response. In the sandbox you are the operator:\n\n\
         ```sh\nguerdon webhook send-example \"$PROVIDER_ID\" --type {name}\n```\n\n\
         ## Sent events of this type\n\n{}",
        string_field(webhook, "summary").trim_end_matches('.'),
        render_example(description, schema),
        write_fields(schema, description),
        write_parameters(&headers, description),
        ExampleRequest::get("/v1/events", &format!("?type={name}")).to_markdown()
    ))
}
