//! Reads files that are named on the command line. They are read before the command is sent to a running `serve`,
//! because `serve` may have no access to them.

use std::convert::Infallible;
use std::path::Path;

use crate::platform::files;

/// Reads and parses a text file of at most `bytes_max` bytes. A failure, which names the file, is returned as part of
/// the value, so that the command reports it and not the argument parser.
pub(crate) fn read_text_file<T>(
    name: &str,
    (bytes_max, too_large): (u64, &str),
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Result<T, String>, Infallible> {
    let read = read_utf8(name, bytes_max, too_large)
        .and_then(|content| parse(content.strip_prefix('\u{feff}').unwrap_or(&content)));
    Ok(read.map_err(|why| format!("{name}: {why}")))
}

fn read_utf8(name: &str, bytes_max: u64, too_large: &str) -> Result<String, String> {
    let read = files::read_bounded(Path::new(name), bytes_max);
    let bytes = read.map_err(|cause| format!("cannot be read: {cause}"))?;
    String::from_utf8(bytes.ok_or(too_large)?).map_err(|_bytes| "it is not UTF-8".to_owned())
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
            let Ok(found) = read_text_file(name, (5, "too large"), |text| Ok(text.to_owned()));
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
        check(Some(b""), Ok(""));
        check(Some(b"123456"), Err("too large"));
        check(Some(b"\xff"), Err("not UTF-8"));
        check(None, Err("cannot be read"));
    }
}
