//! The metadata of an identity provider (SAML 2.0 metadata, section 2.4.3), as far as single sign-on needs it.

use std::convert::Infallible;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use serde::{Deserialize, Serialize};

use crate::commands::arguments::text_file::read_text_file;

/// The largest file; the metadata of one identity provider is much smaller.
const BYTES_MAX: u64 = 1 << 20;
const REDIRECT: &str = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";
const POST: &str = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";

/// The settings that single sign-on needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Metadata {
    pub(super) entity_id: String,
    /// The sign-on URL, for the redirect binding if the metadata has one, else for the POST binding.
    pub(super) sign_on_url: String,
    /// The signing certificates, one per key, in PEM: at least one.
    pub(super) certificates: Vec<String>,
}

/// Reads a metadata file; a failure is part of the value, for the command to report. Internal entities and external
/// documents are not read.
pub(super) fn read(name: &str) -> Result<Result<Metadata, String>, Infallible> {
    read_text_file(
        name,
        (BYTES_MAX, "larger than 1 MiB, too large for the metadata of one identity provider"),
        parse,
    )
}

/// The state of the reader.
#[derive(Default)]
struct Place {
    found: Metadata,
    entities: usize,
    is_in_idp: bool,
    is_for_signing: bool,
    is_in_certificate: bool,
    has_redirect: bool,
}

fn parse(text: &str) -> Result<Metadata, String> {
    let mut reader = Reader::from_str(text);
    let mut place = Place::default();
    loop {
        match reader.read_event().map_err(|cause| format!("not valid XML: {cause}"))? {
            Event::DocType(_) => return Err("a document type declaration is not allowed".to_owned()),
            Event::Start(element) => place.begin(&element)?,
            Event::Empty(element) => {
                place.begin(&element)?;
                place.end(element.local_name().as_ref());
            }
            Event::Text(text) if place.is_in_certificate => {
                let digits = text.into_inner();
                let digits = digits.chars().filter(|character| !character.is_whitespace());
                place.found.certificates.last_mut().into_iter().for_each(|last| last.extend(digits.clone()));
            }
            Event::End(element) => place.end(element.local_name().as_ref()),
            Event::Eof => break,
            _ => {}
        }
    }
    let Place { mut found, entities, .. } = place;
    match (entities, found.sign_on_url.is_empty(), found.certificates.is_empty()) {
        (0, _, _) => Err("describes no identity provider".to_owned()),
        (2.., _, _) => Err("describes several identity providers: keep one".to_owned()),
        (_, true, _) => Err("has no sign-on URL (SingleSignOnService)".to_owned()),
        (_, _, true) => Err("has no signing certificate (X509Certificate)".to_owned()),
        _ => {
            found.certificates = found.certificates.iter().map(|digits| pem(digits)).collect();
            Ok(found)
        }
    }
}

impl Place {
    fn begin(&mut self, it: &BytesStart<'_>) -> Result<(), String> {
        match it.local_name().as_ref() {
            "EntityDescriptor" if self.entities == 0 => self.found.entity_id = value(it, "entityID")?,
            "IDPSSODescriptor" => {
                self.entities += 1;
                self.is_in_idp = self.entities == 1;
            }
            "KeyDescriptor" => self.is_for_signing = self.is_in_idp && value(it, "use")? != "encryption",
            "X509Certificate" if self.is_for_signing => {
                self.is_for_signing = false; // further certificates of the key are its issuers
                self.found.certificates.push(String::new());
                self.is_in_certificate = true;
            }
            "SingleSignOnService" if self.is_in_idp && !self.has_redirect => {
                let binding = value(it, "Binding")?;
                self.has_redirect = binding == REDIRECT;
                if self.has_redirect || (binding == POST && self.found.sign_on_url.is_empty()) {
                    self.found.sign_on_url = value(it, "Location")?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        match name {
            "IDPSSODescriptor" => self.is_in_idp = false,
            "KeyDescriptor" => self.is_for_signing = false,
            "X509Certificate" => self.is_in_certificate = false,
            _ => {}
        }
    }
}

/// Returns an attribute's value; empty if it is absent.
fn value(it: &BytesStart<'_>, name: &str) -> Result<String, String> {
    let found = it.try_get_attribute(name).map_err(|cause| cause.to_string())?;
    let Some(found) = found else { return Ok(String::new()) };
    found
        .normalized_value(XmlVersion::Implicit1_0)
        .map(std::borrow::Cow::into_owned)
        .map_err(|cause| cause.to_string())
}

/// Formats base64 as a certificate in PEM, in lines of 64 characters.
fn pem(base64: &str) -> String {
    let digits: Vec<char> = base64.chars().collect();
    let lines: Vec<String> = digits.chunks(64).map(|chunk| chunk.iter().collect()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(inner: &str) -> String {
        format!(
            r#"<?xml version="1.0"?><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="https://idp.example/a&amp;b"><md:IDPSSODescriptor>{inner}</md:IDPSSODescriptor></md:EntityDescriptor>"#
        )
    }

    fn key(usage: &str, digits: &str) -> String {
        format!(
            r#"<md:KeyDescriptor{usage}><ds:KeyInfo><ds:X509Data><ds:X509Certificate>{digits}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"#
        )
    }

    fn service(binding: &str, place: &str) -> String {
        format!(r#"<md:SingleSignOnService Binding="{binding}" Location="{place}"/>"#)
    }

    #[test]
    fn entity_id_url_and_certificate_are_read() {
        let keys = key(r#" use="encryption""#, "WFhY") + &key("", "\n  QUJD\n  REVG\n") + &key("", "R0hJ");
        let places = service(POST, "https://idp.example/post")
            + &service(REDIRECT, "https://idp.example/r?x=1&amp;y=2");
        let found = parse(&document(&(keys.clone() + &places))).unwrap();
        assert_eq!(found.entity_id, "https://idp.example/a&b");
        assert_eq!(found.sign_on_url, "https://idp.example/r?x=1&y=2");
        let chain = key("", "QUJD</ds:X509Certificate><ds:X509Certificate>Q0FD");
        let places_alone = service(POST, "https://idp.example/post");
        assert_eq!(parse(&document(&(chain + &places_alone))).unwrap().certificates.len(), 1, "no chain");
        let certificate =
            |digits| format!("-----BEGIN CERTIFICATE-----\n{digits}\n-----END CERTIFICATE-----\n");
        assert_eq!(found.certificates, [certificate("QUJDREVG"), certificate("R0hJ")]);
        let by_form = parse(&document(&(keys + &service(POST, "https://idp.example/post")))).unwrap();
        assert_eq!(by_form.sign_on_url, "https://idp.example/post");
    }

    #[test]
    fn missing_parts_are_reported() {
        let check = |text: &str, expected: &str| {
            let why = parse(text).unwrap_err();
            assert!(why.contains(expected), "{why}");
        };
        check("", "no identity provider");
        check("<a><b></a>", "not valid XML");
        check(&document(&key("", "QUJD")), "no sign-on URL");
        check(&document(&service(REDIRECT, "https://idp.example")), "no signing certificate");
        check(r#"<!DOCTYPE x [<!ENTITY a "b">]><x/>"#, "document type");
        let twice = document("") + &document("");
        check(&twice.replace("<?xml version=\"1.0\"?>", ""), "several");
    }
}
