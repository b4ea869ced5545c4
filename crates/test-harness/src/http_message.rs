//! The subset of HTTP/1.1 that the client and the receiver need: messages with a length, one after the other.

use std::fmt;
use std::io::{Error, ErrorKind, Read};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A request or a response.
pub(crate) struct Message<'a> {
    /// When the first byte had been read.
    pub(crate) first_byte: Instant,
    pub(crate) head: &'a str,
    pub(crate) body: &'a [u8],
}

/// A response.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: u16,
    /// The status line and the header fields, with the empty line.
    pub head: String,
    pub body: Vec<u8>,
}

impl HttpResponse {
    pub(crate) fn parse(head: &str, body: &[u8]) -> Result<Self> {
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.with_context(|| format!("a response without a status: {head:?}"))?;
        Ok(Self { status, head: head.to_owned(), body: body.to_vec() })
    }

    /// Returns the value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Returns how long the response asks the client to wait before a retry.
    pub fn retry_after(&self) -> Duration {
        Duration::from_secs(self.header("retry-after").and_then(|value| value.parse().ok()).unwrap_or(0))
    }

    /// Returns the body; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The head and the body.
impl fmt::Display for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.head, self.text())
    }
}

/// Reads one message into `buffer`; `None` if the other side has closed the connection. Bytes after the message that
/// have been read with it are lost.
pub(crate) fn read_message<'a>(
    stream: &mut impl Read,
    buffer: &'a mut Vec<u8>,
) -> Result<Option<Message<'a>>, Error> {
    buffer.clear();
    let mut chunk = [0; 16 * 1024];
    let mut first_byte = None;
    let mut lengths = None;
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return if buffer.is_empty() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
        }
        let first_byte = *first_byte.get_or_insert_with(Instant::now);
        buffer.extend_from_slice(chunk.get(..count).unwrap_or_default());
        if lengths.is_none() {
            lengths = message_lengths(buffer)?;
        }
        if let Some((head, whole)) = lengths
            && buffer.len() >= whole
        {
            let text = std::str::from_utf8(buffer.get(..head).unwrap_or_default())
                .map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
            let body = buffer.get(head..whole).unwrap_or_default();
            return Ok(Some(Message { first_byte, head: text, body }));
        }
    }
}

/// Splits a stream into its responses. Responses to HEAD are not supported.
pub fn parse_responses(mut bytes: &[u8]) -> Result<Vec<HttpResponse>> {
    let mut responses = Vec::new();
    while !bytes.is_empty() {
        let cut = || format!("an incomplete response: {:?}", String::from_utf8_lossy(bytes));
        let (head, whole) = message_lengths(bytes)?.with_context(cut)?;
        let (response, rest) = bytes.split_at_checked(whole).with_context(cut)?;
        let (head, body) = response.split_at_checked(head).with_context(cut)?;
        responses.push(HttpResponse::parse(std::str::from_utf8(head)?, body)?);
        bytes = rest;
    }
    Ok(responses)
}

/// Returns the lengths of the head and of the whole message, once the head is complete.
fn message_lengths(bytes: &[u8]) -> Result<Option<(usize, usize)>, Error> {
    let Some(start) = bytes.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD) else {
        return Ok(None);
    };
    let head = start + END_OF_HEAD.len();
    let lines = bytes.get(..start).unwrap_or_default().split(|byte| *byte == b'\n');
    let mut values = lines.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(':'));
    let length = values.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = match length {
        Some((_, value)) => {
            value.trim().parse().map_err(|error| Error::new(ErrorKind::InvalidData, error))?
        }
        None => 0,
    };
    Ok(Some((head, head + length)))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::{parse_responses, read_message};

    #[test]
    fn a_message_may_come_in_pieces() {
        let mut stream = Cursor::new(b"HTTP/1.1 200 OK\r\ncontent-length: 4".to_vec())
            .chain(Cursor::new(b"\r\n\r".to_vec()))
            .chain(Cursor::new(b"\nab".to_vec()))
            .chain(Cursor::new(b"cd".to_vec()));
        let mut buffer = Vec::new();
        let message = read_message(&mut stream, &mut buffer).unwrap().unwrap();
        assert!(message.head.starts_with("HTTP/1.1 200"));
        assert_eq!(message.body, b"abcd");
        assert!(read_message(&mut stream, &mut buffer).unwrap().is_none());
        assert!(read_message(&mut Cursor::new(b"HTTP/1.1"), &mut buffer).is_err(), "it was cut off");
    }

    #[test]
    fn a_stream_is_split_into_responses() {
        let stream = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 404 No\r\n\r\n";
        let responses = parse_responses(stream).unwrap();
        let parts: Vec<_> =
            responses.iter().map(|it| (it.status, it.text(), it.header("content-length"))).collect();
        assert_eq!(parts, [(200, "ab".to_owned(), Some("2")), (404, String::new(), None)]);
        assert!(parse_responses(stream.get(..stream.len() - 1).unwrap()).is_err());
    }
}
