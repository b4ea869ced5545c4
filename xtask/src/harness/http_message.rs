//! The subset of HTTP/1.1 that the client, the receiver and the minimal server need: messages with a length, one
//! after the other.

use std::io::{Error, ErrorKind, Read};
use std::time::Instant;

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A request or a response.
pub(crate) struct Message<'a> {
    /// When the first byte had been read.
    pub(crate) first_byte: Instant,
    pub(crate) head: &'a str,
    pub(crate) body: &'a [u8],
}

/// Reads one message into `buffer`; `None` if the other side has closed the connection.
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

/// Returns the value of a header field.
pub(crate) fn header_value<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Returns the first `"id"` in a JSON string.
pub(crate) fn first_id(json: &[u8]) -> Option<String> {
    let start = json.windows(6).position(|window| window == b"\"id\":\"")?;
    let id = json.get(start + 6..start + 42)?;
    String::from_utf8(id.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::{first_id, read_message};

    #[test]
    fn a_message_may_arrive_in_pieces() {
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
    fn an_event_and_its_recognition_have_the_same_first_id() {
        let id = "01a1fdd4-8a51-741c-a29d-73192bacd34c";
        let response = format!(r#"{{"recognitions":[{{"id":"{id}","x":1}}]}}"#);
        let event = format!(r#"{{"type":"recognition.received","data":{{"id":"{id}","occasion_id":"o"}}}}"#);
        assert_eq!(first_id(response.as_bytes()), first_id(event.as_bytes()));
        assert_eq!(first_id(response.as_bytes()).as_deref(), Some(id));
        assert_eq!(first_id(b"{}"), None);
    }
}
