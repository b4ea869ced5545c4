//! Reads the parts of an identity provider's metadata that single sign-on needs (SAML 2.0 metadata, section 2.4.3). A
//! library for SAML, such as `samael`, adds messages and signatures, which the service does not need.

use std::convert::Infallible;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use serde::{Deserialize, Serialize};

use crate::commands::arguments::text_file::read_text_file;

/// The maximum size of a file. The metadata of one identity provider is much smaller.
const FILE_BYTES_MAX: u64 = 1 << 20;
const REDIRECT_BINDING: &str = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect";
const POST_BINDING: &str = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";

/// The settings that single sign-on needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) entity_id: String,
    /// The sign-on URL of the redirect binding, or of the POST binding if the metadata has no redirect binding.
    pub(crate) sign_on_url: String,
    /// The signing certificates in PEM, one per key. There is at least one.
    pub(crate) certificates: Vec<String>,
}

/// Reads a metadata file. A failure is returned as part of the value, so that the command reports it. Internal entities
/// and external documents are not read.
pub(super) fn read_metadata(name: &str) -> Result<Result<Metadata, String>, Infallible> {
    read_text_file(
        name,
        (FILE_BYTES_MAX, "larger than 1 MiB, too large for the metadata of one identity provider"),
        |text| parse_metadata(&text),
    )
}

/// The state of the reader.
#[derive(Default)]
struct MetadataParser {
    metadata: Metadata,
    idp_count: usize,
    is_in_idp: bool,
    is_for_signing: bool,
    is_in_certificate: bool,
    has_redirect: bool,
}

pub(crate) fn parse_metadata(text: &str) -> Result<Metadata, String> {
    let mut reader = Reader::from_str(text);
    let mut parser = MetadataParser::default();
    loop {
        match reader.read_event().map_err(|cause| format!("not valid XML: {cause}"))? {
            Event::DocType(_) => return Err("a document type declaration is not allowed".to_owned()),
            Event::Start(element) => parser.begin_element(&element)?,
            Event::Empty(element) => {
                parser.begin_element(&element)?;
                parser.end_element(element.local_name().as_ref());
            }
            Event::Text(text) if parser.is_in_certificate => {
                let digits = text.into_inner();
                let digits = digits.chars().filter(|character| !character.is_whitespace());
                parser
                    .metadata
                    .certificates
                    .last_mut()
                    .into_iter()
                    .for_each(|last| last.extend(digits.clone()));
            }
            Event::End(element) => parser.end_element(element.local_name().as_ref()),
            Event::Eof => break,
            _ => {}
        }
    }
    let MetadataParser { metadata: mut found, idp_count: entities, .. } = parser;
    match (entities, found.sign_on_url.is_empty(), found.certificates.is_empty()) {
        (0, _, _) => Err("does not describe an identity provider".to_owned()),
        (2.., _, _) => Err("describes several identity providers: keep only one".to_owned()),
        (_, true, _) => Err("has no sign-on URL (SingleSignOnService)".to_owned()),
        (_, _, true) => Err("has no signing certificate (X509Certificate)".to_owned()),
        _ => {
            found.certificates = found.certificates.iter().map(|digits| to_pem(digits)).collect();
            Ok(found)
        }
    }
}

impl MetadataParser {
    fn begin_element(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        match element.local_name().as_ref() {
            "EntityDescriptor" if self.idp_count == 0 => {
                self.metadata.entity_id = attribute_value(element, "entityID")?
            }
            "IDPSSODescriptor" => {
                self.idp_count += 1;
                self.is_in_idp = self.idp_count == 1;
            }
            "KeyDescriptor" => {
                self.is_for_signing = self.is_in_idp && attribute_value(element, "use")? != "encryption"
            }
            "X509Certificate" if self.is_for_signing => {
                self.is_for_signing = false; // further certificates of this key are those of issuers
                self.metadata.certificates.push(String::new());
                self.is_in_certificate = true;
            }
            "SingleSignOnService" if self.is_in_idp && !self.has_redirect => {
                let binding = attribute_value(element, "Binding")?;
                self.has_redirect = binding == REDIRECT_BINDING;
                if self.has_redirect || (binding == POST_BINDING && self.metadata.sign_on_url.is_empty()) {
                    self.metadata.sign_on_url = attribute_value(element, "Location")?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end_element(&mut self, name: &str) {
        match name {
            "IDPSSODescriptor" => self.is_in_idp = false,
            "KeyDescriptor" => self.is_for_signing = false,
            "X509Certificate" => self.is_in_certificate = false,
            _ => {}
        }
    }
}

/// Returns an attribute's value; empty if it is absent.
fn attribute_value(element: &BytesStart<'_>, name: &str) -> Result<String, String> {
    let found = element.try_get_attribute(name).map_err(|cause| cause.to_string())?;
    let Some(found) = found else { return Ok(String::new()) };
    found
        .normalized_value(XmlVersion::Implicit1_0)
        .map(std::borrow::Cow::into_owned)
        .map_err(|cause| cause.to_string())
}

/// Formats base64 as a certificate in PEM, in lines of 64 characters. The metadata contains the base64 already, so a
/// PEM library would have to decode it first.
fn to_pem(base64: &str) -> String {
    let digits: Vec<char> = base64.chars().collect();
    let lines: Vec<String> = digits.chunks(64).map(|chunk| chunk.iter().collect()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata_document(inner: &str) -> String {
        format!(
            r#"<?xml version="1.0"?><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="https://idp.example/a&amp;b"><md:IDPSSODescriptor>{inner}</md:IDPSSODescriptor></md:EntityDescriptor>"#
        )
    }

    fn key_descriptor(usage: &str, digits: &str) -> String {
        format!(
            r#"<md:KeyDescriptor{usage}><ds:KeyInfo><ds:X509Data><ds:X509Certificate>{digits}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"#
        )
    }

    fn sign_on_service(binding: &str, parser: &str) -> String {
        format!(r#"<md:SingleSignOnService Binding="{binding}" Location="{parser}"/>"#)
    }

    #[test]
    fn entity_id_url_and_certificate_are_read() {
        let keys = key_descriptor(r#" use="encryption""#, "WFhY")
            + &key_descriptor("", "\n  QUJD\n  REVG\n")
            + &key_descriptor("", "R0hJ");
        let places = sign_on_service(POST_BINDING, "https://idp.example/post")
            + &sign_on_service(REDIRECT_BINDING, "https://idp.example/r?x=1&amp;y=2");
        let found = parse_metadata(&metadata_document(&(keys.clone() + &places))).unwrap();
        assert_eq!(found.entity_id, "https://idp.example/a&b");
        assert_eq!(found.sign_on_url, "https://idp.example/r?x=1&y=2");
        let chain = key_descriptor("", "QUJD</ds:X509Certificate><ds:X509Certificate>Q0FD");
        let places_alone = sign_on_service(POST_BINDING, "https://idp.example/post");
        assert_eq!(
            parse_metadata(&metadata_document(&(chain + &places_alone))).unwrap().certificates.len(),
            1,
            "no chain"
        );
        let certificate =
            |digits| format!("-----BEGIN CERTIFICATE-----\n{digits}\n-----END CERTIFICATE-----\n");
        assert_eq!(found.certificates, [certificate("QUJDREVG"), certificate("R0hJ")]);
        let by_form = parse_metadata(&metadata_document(
            &(keys + &sign_on_service(POST_BINDING, "https://idp.example/post")),
        ))
        .unwrap();
        assert_eq!(by_form.sign_on_url, "https://idp.example/post");
    }

    #[test]
    fn missing_parts_are_reported() {
        let check = |text: &str, expected: &str| {
            let why = parse_metadata(text).unwrap_err();
            assert!(why.contains(expected), "{why}");
        };
        check("", "does not describe an identity provider");
        check("<a><b></a>", "not valid XML");
        check(&metadata_document(&key_descriptor("", "QUJD")), "no sign-on URL");
        check(
            &metadata_document(&sign_on_service(REDIRECT_BINDING, "https://idp.example")),
            "no signing certificate",
        );
        check(r#"<!DOCTYPE x [<!ENTITY a "b">]><x/>"#, "document type");
        let twice = metadata_document("") + &metadata_document("");
        check(&twice.replace("<?xml version=\"1.0\"?>", ""), "several");
    }
}
