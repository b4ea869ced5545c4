//! Turns an email of the outbox into the bytes that are sent.

use std::time::SystemTime;

use lettre::Message;
use lettre::address::{Address, Envelope};
use lettre::message::header::{
    ContentTransferEncoding, ContentType, HeaderName, HeaderValue, MIME_VERSION_1_0, MessageId,
};
use lettre::message::{Body, Mailbox};

use crate::failure::SendFailure;
use crate::from_address::{FromAddress, to_smtp_address};
use crate::mail::Mail;

/// The longest line that a mail server must accept, without its CRLF (RFC 5322).
const LINE_LENGTH_MAX: usize = 998;

/// An email in the form in which it is sent. The same email from the same sender always gives the same bytes.
#[derive(Debug, Clone)]
pub struct EncodedMessage {
    pub(crate) from: Address,
    pub(crate) to: Address,
    pub(crate) bytes: Vec<u8>,
}

impl EncodedMessage {
    /// Encodes an email. Fails with [`FailureKind::Unsendable`](crate::FailureKind::Unsendable) if the recipient is
    /// invalid, the subject contains control characters, or the email cannot be encoded, and if a mail server could
    /// misread the result: lettre up to 0.11.23 lets a lone line break end the message (RUSTSEC-2026-0561).
    pub fn encode_mail(mail: &Mail, sender: &FromAddress) -> Result<Self, SendFailure> {
        let to = to_smtp_address(&mail.recipient)
            .ok_or_else(|| SendFailure::unsendable("the recipient is not an email address"))?;
        if mail.subject.chars().any(char::is_control) {
            return Err(SendFailure::unsendable("the subject contains control characters"));
        }
        let from = sender.mailbox().email.clone();
        let message = build_message(mail, sender, &to)
            .ok_or_else(|| SendFailure::unsendable("the email cannot be encoded"))?;
        let encoded = Self { bytes: message.formatted(), from, to };
        if !is_valid_message(&encoded.bytes) {
            return Err(SendFailure::unsendable("the encoded message would be invalid"));
        }
        Ok(encoded)
    }

    /// The bytes that a mail server receives and an `.eml` file contains.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn build_message(mail: &Mail, sender: &FromAddress, to: &Address) -> Option<Message> {
    let from = sender.mailbox();
    let id = format!("<{}@{}>", mail.id, from.email.domain());
    let text = mail.body.replace("\r\n", "\n").replace('\r', "\n");
    let text = format!("{}\n", text.trim_end_matches('\n'));
    let body = Body::new_with_encoding(text, ContentTransferEncoding::QuotedPrintable).ok()?;
    Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to.clone()))
        .subject(mail.subject.as_str())
        .date(SystemTime::from(mail.created_at.to_utc()))
        .header(MessageId::from(id))
        .raw_header(auto_submitted_header())
        .header(MIME_VERSION_1_0)
        .header(ContentType::TEXT_PLAIN)
        .envelope(Envelope::new(Some(from.email.clone()), vec![to.clone()]).ok()?)
        .body(body)
        .ok()
}

/// Asks mail systems to send no automatic replies (RFC 3834).
fn auto_submitted_header() -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned())
}

/// Whether every line ends with CRLF, has an allowed length, and contains neither NUL nor a lone CR or LF.
fn is_valid_message(message: &[u8]) -> bool {
    let lines = message.split(|byte| *byte == b'\n');
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        let line = match (lines.peek(), line) {
            (Some(_), [line @ .., b'\r']) => line,
            (Some(_), _) => return false,
            (None, rest) => rest,
        };
        if line.len() > LINE_LENGTH_MAX || line.contains(&b'\r') || line.contains(&0) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_valid_message;

    #[test]
    fn only_complete_line_ends_are_valid() {
        let check = |message: &str, expected: bool| {
            assert_eq!(is_valid_message(message.as_bytes()), expected, "{message:?}");
        };
        check("", true);
        check("a: b\r\n\r\ntext", true);
        check("a: b\r\n\r\ntext\r\n", true);
        check("a\n.\r\n", false);
        check("a\r.\r\n", false);
        check("a\r\n.\n", false);
        check("a\r\n\r", false);
        check("a\r\r\n", false);
        check("a\0b\r\n", false);
        check(&format!("{}\r\n", "a".repeat(998)), true);
        check(&format!("{}\r\n", "a".repeat(999)), false);
        check(&"a".repeat(999), false);
    }
}
