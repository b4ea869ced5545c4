//! Reconstructs the original body from a body that was changed on the way, for example parsed and serialised again.
//! This works because the service writes each event in exactly one way.

use std::collections::HashMap;

use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::event::data_field_names;

/// Undoes one change; `None` if the body cannot have been changed in this way.
type UndoStep = fn(&[u8]) -> Option<Vec<u8>>;
type JsonFields = HashMap<String, Box<RawValue>>;

/// The changes in the order in which they are undone, since a body may have been changed more than once.
const UNDO_STEPS: [(UndoStep, &str); 6] = [
    (strip_byte_order_mark, "it starts with a byte order mark"),
    (trim_whitespace, "spaces or line breaks were added around it"),
    (unwrap_json_string, "it was encoded as a JSON string"),
    (remove_whitespace, "it was parsed and serialised again, with white space between its tokens"),
    (unescape_strings, "it was parsed and serialised again, with characters escaped"),
    (reorder_keys, "it was parsed and serialised again, with its keys in a different order"),
];

/// Returns the bodies that may have been sent, each with a description of the changes that led to the given body.
pub(crate) fn original_bodies(body: &[u8]) -> Vec<(Vec<u8>, String)> {
    let (mut originals, mut last, mut changes) = (Vec::new(), body.to_vec(), Vec::new());
    for (undo, what) in UNDO_STEPS {
        if let Some(original) = undo(&last).filter(|original| *original != last) {
            changes.push(what);
            last = original;
            originals.push((last.clone(), changes.join("; ")));
        }
    }
    originals
}

fn strip_byte_order_mark(body: &[u8]) -> Option<Vec<u8>> {
    body.strip_prefix("\u{feff}".as_bytes()).map(<[u8]>::to_vec)
}

fn trim_whitespace(body: &[u8]) -> Option<Vec<u8>> {
    Some(body.trim_ascii().to_vec())
}

fn unwrap_json_string(body: &[u8]) -> Option<Vec<u8>> {
    serde_json::from_slice(body).map(String::into_bytes).ok()
}

/// Removes the white space outside of strings.
fn remove_whitespace(json: &[u8]) -> Option<Vec<u8>> {
    let (mut is_string, mut is_escaped) = (false, false);
    let mut stripped = Vec::with_capacity(json.len());
    for byte in json {
        if !is_string && byte.is_ascii_whitespace() {
            continue;
        }
        stripped.push(*byte);
        is_string ^= *byte == b'"' && !is_escaped;
        is_escaped = is_string && *byte == b'\\' && !is_escaped;
    }
    Some(stripped)
}

/// Rewrites each string with as few escapes as possible.
fn unescape_strings(json: &[u8]) -> Option<Vec<u8>> {
    let (mut unescaped, mut rest) = (Vec::with_capacity(json.len()), json);
    while let Some(start) = rest.iter().position(|byte| *byte == b'"') {
        let (before, tail) = rest.split_at_checked(start)?;
        let mut texts = Deserializer::from_slice(tail).into_iter::<String>();
        let text = texts.next()?.ok()?;
        unescaped.extend_from_slice(before);
        unescaped.extend(serde_json::to_vec(&text).ok()?);
        rest = tail.get(texts.byte_offset()..)?;
    }
    unescaped.extend_from_slice(rest);
    Some(unescaped)
}

/// Puts the keys of a known kind of event in the order in which the service writes them.
fn reorder_keys(json: &[u8]) -> Option<Vec<u8>> {
    let event: JsonFields = serde_json::from_slice(json).ok()?;
    let (kind, version) = (event.get("type")?, event.get("version")?);
    let data: JsonFields = serde_json::from_str(event.get("data")?.get()).ok()?;
    let names = data_field_names(&serde_json::from_str::<String>(kind.get()).ok()?)?;
    let field = |name: &&str| Some(format!("\"{name}\":{}", data.get(*name)?));
    let fields: Option<Vec<String>> = names.iter().map(field).collect();
    Some(format!("{{\"type\":{kind},\"version\":{version},\"data\":{{{}}}}}", fields?.join(",")).into_bytes())
}
