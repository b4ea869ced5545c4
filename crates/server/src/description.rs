//! The description of the API, with the events that this program sends.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use guerdon_domain::events::EventKind;
use guerdon_http_api::{Page, Webhook, openapi};
use serde_json::Value;

/// The description in OpenAPI 3.1.
pub(crate) fn description() -> Value {
    openapi(EventKind::ALL.iter().map(|it| webhook(*it)).collect())
}

/// The pages that everybody may read.
pub(crate) fn pages() -> Vec<Page> {
    let description = description();
    let handbook = guerdon_handbook::pages(&description);
    let mut pages: Vec<Page> =
        handbook.into_iter().map(|it| page(it.path, it.content_type, it.body.into_bytes())).collect();
    pages.push(page("/openapi.json".to_owned(), "application/json", description.to_string().into_bytes()));
    pages
}

fn page(path: String, content_type: &'static str, body: Vec<u8>) -> Page {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail; were it to, the page would be empty for those who want it compressed.
    let gzipped = encoder.write_all(&body).and_then(|()| encoder.finish()).unwrap_or_default();
    Page { path, content_type, body: body.into(), gzipped: gzipped.into() }
}

fn webhook(kind: EventKind) -> Webhook {
    let summary = match kind {
        EventKind::RecognitionReceived => "A user received a recognition",
        EventKind::RecognitionUpdated => "The operator changed a recognition",
        EventKind::RedemptionCreated => "A user spent points on a reward",
    };
    Webhook { name: kind.name(), summary, body: guerdon_webhook_dispatcher::schema(kind).to_value() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_a_page_for_unknown_paths() {
        assert!(super::pages().iter().any(|it| it.path == guerdon_http_api::NOT_FOUND_PATH));
    }
}
