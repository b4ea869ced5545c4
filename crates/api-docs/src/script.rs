//! The script that all pages contain, and the content security policy that permits it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

/// Search, copy buttons and the remembered language. Everything else works without it.
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// Returns the content security policy of the pages: their own style sheet, this script and the search index; no
/// frames, no other scripts and no other hosts.
pub fn content_security_policy() -> String {
    let hash = STANDARD.encode(digest(&SHA256, SCRIPT.as_bytes()));
    format!(
        "default-src 'none'; style-src 'self'; script-src 'sha256-{hash}'; connect-src 'self'; img-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
