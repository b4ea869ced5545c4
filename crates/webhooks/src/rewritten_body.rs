//! Reconstructs the body that was sent from one that was changed on its way, for example parsed and serialised again. It works
//! because the service writes each event in exactly one way.

use std::collections::HashMap;

use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::event::data_field_names;

/// Undoes one change; `None` if the body cannot have been changed in this way.
type Step = fn(&[u8]) -> Option<Vec<u8>>;
type Fields = HashMap<String, Box<RawValue>>;

/// The changes in the order in which they are undone, since a body may have been changed more than once.
const STEPS: [(Step, &str); 6] = [
    (strip_byte_order_mark, "a byte order mark stands before it"),
    (trim, "blanks or line breaks were added around it"),
    (unquote, "it is given as a JSON text, with quotes around it"),
    (compact, "it was read and written again, with blanks between its parts"),
    (unescape, "it was read and written again, with letters or slashes escaped"),
    (reorder, "it was read and written again, with its keys in another order"),
];

/// Returns the bodies that may have been sent, each with the changes that led to the given one.
pub(crate) fn original_bodies(body: &[u8]) -> Vec<(Vec<u8>, String)> {
    let (mut all, mut last, mut changes) = (Vec::new(), body.to_vec(), Vec::new());
    for (undo, what) in STEPS {
        if let Some(undone) = undo(&last).filter(|undone| *undone != last) {
            changes.push(what);
            last = undone;
            all.push((last.clone(), changes.join("; ")));
        }
    }
    all
}

fn strip_byte_order_mark(body: &[u8]) -> Option<Vec<u8>> {
    body.strip_prefix("\u{feff}".as_bytes()).map(<[u8]>::to_vec)
}

fn trim(body: &[u8]) -> Option<Vec<u8>> {
    Some(body.trim_ascii().to_vec())
}

fn unquote(body: &[u8]) -> Option<Vec<u8>> {
    serde_json::from_slice(body).map(String::into_bytes).ok()
}

/// Removes the white space outside of strings.
fn compact(json: &[u8]) -> Option<Vec<u8>> {
    let (mut is_string, mut is_escaped) = (false, false);
    let mut compact = Vec::with_capacity(json.len());
    for byte in json {
        if !is_string && byte.is_ascii_whitespace() {
            continue;
        }
        compact.push(*byte);
        is_string ^= *byte == b'"' && !is_escaped;
        is_escaped = is_string && *byte == b'\\' && !is_escaped;
    }
    Some(compact)
}

/// Rewrites each string with as few escapes as possible.
fn unescape(json: &[u8]) -> Option<Vec<u8>> {
    let (mut unescaped, mut rest) = (Vec::with_capacity(json.len()), json);
    while let Some(start) = rest.iter().position(|byte| *byte == b'"') {
        let (before, from_there) = rest.split_at_checked(start)?;
        let mut texts = Deserializer::from_slice(from_there).into_iter::<String>();
        let text = texts.next()?.ok()?;
        unescaped.extend_from_slice(before);
        unescaped.extend(serde_json::to_vec(&text).ok()?);
        rest = from_there.get(texts.byte_offset()..)?;
    }
    unescaped.extend_from_slice(rest);
    Some(unescaped)
}

/// Puts the keys of a known kind of event in the order in which the service writes them.
fn reorder(json: &[u8]) -> Option<Vec<u8>> {
    let event: Fields = serde_json::from_slice(json).ok()?;
    let (kind, version) = (event.get("type")?, event.get("version")?);
    let data: Fields = serde_json::from_str(event.get("data")?.get()).ok()?;
    let names = data_field_names(&serde_json::from_str::<String>(kind.get()).ok()?)?;
    let field = |name: &&str| Some(format!("\"{name}\":{}", data.get(*name)?));
    let fields: Option<Vec<String>> = names.iter().map(field).collect();
    Some(format!("{{\"type\":{kind},\"version\":{version},\"data\":{{{}}}}}", fields?.join(",")).into_bytes())
}
