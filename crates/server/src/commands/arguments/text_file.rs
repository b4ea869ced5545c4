//! Reads files that are named on the command line. They are read before the command is sent to a running `serve`,
//! because `serve` may have no access to them.

use std::convert::Infallible;
use std::path::Path;

use crate::platform::files;

/// Reads and parses a text file (UTF-8, or UTF-16 with a byte order mark) of at most `bytes_max` bytes; `too_large` is
/// the error for a larger file. A failure, which names the file, is returned as part of the value, so that the command
/// reports it instead of the argument parser.
pub(crate) fn read_text_file<T>(
    name: &str,
    (bytes_max, too_large): (u64, &str),
    parse: impl FnOnce(String) -> Result<T, String>,
) -> Result<Result<T, String>, Infallible> {
    let read = read_decoded(name, bytes_max, too_large).and_then(parse);
    Ok(read.map_err(|why| format!("{name}: {why}")))
}

fn read_decoded(name: &str, bytes_max: u64, too_large: &str) -> Result<String, String> {
    let read = files::read_bounded(Path::new(name), bytes_max);
    let bytes = read.map_err(|cause| format!("cannot be read: {cause}"))?;
    decode_text(bytes.ok_or(too_large)?)
}

/// Decodes UTF-8, or UTF-16 if the text begins with its byte order mark. The mark is not part of the result.
fn decode_text(bytes: Vec<u8>) -> Result<String, String> {
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, u16::from_be_bytes),
        _ => {
            let mut text = String::from_utf8(bytes).map_err(|cause| {
                let valid = cause.as_bytes().get(..cause.utf8_error().valid_up_to()).unwrap_or_default();
                let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
                format!("line {line} is not UTF-8: save the file as UTF-8")
            })?;
            if text.starts_with('\u{feff}') {
                text.remove(0);
            }
            Ok(text)
        }
    }
}

fn decode_utf16(bytes: &[u8], read_unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    let invalid = || "it is not valid UTF-16: save the file as UTF-8".to_owned();
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(invalid());
    }
    char::decode_utf16(pairs.iter().copied().map(read_unit))
        .collect::<Result<_, _>>()
        .map_err(|_unpaired| invalid())
}

#[cfg(test)]
mod tests {
    use super::read_text_file;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_errors_name_it() {
        let folder = tempfile::tempdir().unwrap();
        let check = |content: Option<&[u8]>, expected: Result<&str, &str>| {
            let path = folder.path().join("given.txt");
            match content {
                Some(content) => std::fs::write(&path, content).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let name = path.to_str().unwrap();
            let Ok(found) = read_text_file(name, (5, "too large"), Ok);
            match expected {
                Ok(text) => assert_eq!(found.as_deref(), Ok(text)),
                Err(part) => {
                    let why = found.unwrap_err();
                    assert!(why.starts_with(&format!("{name}: ")) && why.contains(part), "{why}");
                }
            }
        };
        check(Some(b"12345"), Ok("12345"));
        check(Some("\u{feff}12".as_bytes()), Ok("12"));
        check(Some(b"\xff\xfeA\x00"), Ok("A"));
        check(Some(b"\xfe\xff\x00A"), Ok("A"));
        check(Some(b"\xff\xfe\x00\xd8"), Err("not valid UTF-16"));
        check(Some(b"\xff\xfeA"), Err("not valid UTF-16"));
        check(Some(b""), Ok(""));
        check(Some(b"123456"), Err("too large"));
        check(Some(b"1\n\xff"), Err("line 2 is not UTF-8"));
        check(None, Err("cannot be read"));
    }
}
