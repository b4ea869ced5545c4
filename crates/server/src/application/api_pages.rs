//! The OpenAPI description of the API with its webhooks, and the public pages that are rendered from it.

use std::io::Write as _;

use actix_web::http::header::HeaderValue;
use flate2::Compression;
use flate2::write::GzEncoder;
use guerdon_domain::events::EventKind;
use guerdon_http_api::{PublicPage, Webhook, openapi};
use serde_json::Value;

/// The OpenAPI 3.1 description, as `GET /openapi.json` and `guerdon openapi` show it.
pub(crate) fn describe_api() -> Value {
    openapi(EventKind::ALL.iter().map(|kind| describe_webhook(*kind)).collect())
}

/// The pages that need no credentials, uncompressed and compressed.
pub(super) fn render_api_pages() -> Vec<PublicPage> {
    let description = describe_api();
    let mut pages: Vec<PublicPage> = guerdon_api_docs::render_pages(&description)
        .into_iter()
        .map(|page| compress_page(page.path, page.content_type, page.body.into_bytes()))
        .collect();
    let json = description.to_string().into_bytes();
    pages.push(compress_page("/openapi.json".to_owned(), "application/json", json));
    pages
}

fn compress_page(path: String, content_type: &'static str, body: Vec<u8>) -> PublicPage {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail. If it did, only the compressed page would be empty.
    let gzipped = encoder.write_all(&body).and_then(|()| encoder.finish()).unwrap_or_default();
    let content_security_policy = if content_type.starts_with("text/html") {
        HeaderValue::try_from(guerdon_api_docs::content_security_policy()).ok()
    } else {
        None
    };
    PublicPage { path, content_type, content_security_policy, body: body.into(), gzipped: gzipped.into() }
}

fn describe_webhook(kind: EventKind) -> Webhook {
    let body = guerdon_webhook_dispatcher::body_schema(kind).to_value();
    Webhook { name: kind.name(), summary: kind.summary(), body }
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_a_page_for_unknown_paths() {
        assert!(super::render_api_pages().iter().any(|page| page.path == guerdon_http_api::NOT_FOUND_PATH));
    }
}
