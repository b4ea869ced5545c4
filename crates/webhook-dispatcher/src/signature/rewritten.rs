//! What a body may have been before something changed it. Events are written in one way, to which much that happens to a body
//! leads back.

use std::collections::HashMap;

use guerdon_domain::events::EventKind;
use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::bodies;

/// Undoes one change; none where there is nothing to undo.
type Step = fn(&[u8]) -> Option<Vec<u8>>;
type Fields = HashMap<String, Box<RawValue>>;

/// In the order in which they are undone: a body may have been changed more than once.
const STEPS: [(Step, &str); 6] = [
    (unmarked, "a byte order mark stands before it"),
    (trimmed, "blanks or line breaks were added around it"),
    (unquoted, "it is given as a JSON text, with quotes around it"),
    (compact, "it was read and written again, with blanks between its parts"),
    (plain, "it was read and written again, with letters or slashes escaped"),
    (ordered, "it was read and written again, with its keys in another order"),
];

/// The body as it may have been, with what happened to it since.
pub(super) fn before(body: &[u8]) -> Vec<(Vec<u8>, String)> {
    let (mut all, mut last, mut told) = (Vec::new(), body.to_vec(), Vec::new());
    for (undo, what) in STEPS {
        if let Some(undone) = undo(&last).filter(|it| *it != last) {
            told.push(what);
            last = undone;
            all.push((last.clone(), told.join("; ")));
        }
    }
    all
}

fn unmarked(body: &[u8]) -> Option<Vec<u8>> {
    body.strip_prefix("\u{feff}".as_bytes()).map(<[u8]>::to_vec)
}

fn trimmed(body: &[u8]) -> Option<Vec<u8>> {
    Some(body.trim_ascii().to_vec())
}

fn unquoted(body: &[u8]) -> Option<Vec<u8>> {
    serde_json::from_slice(body).map(String::into_bytes).ok()
}

/// The JSON without what stands between its parts.
fn compact(json: &[u8]) -> Option<Vec<u8>> {
    let (mut is_text, mut is_escaped) = (false, false);
    let mut compact = Vec::with_capacity(json.len());
    for byte in json {
        if !is_text && byte.is_ascii_whitespace() {
            continue;
        }
        compact.push(*byte);
        is_text ^= *byte == b'"' && !is_escaped;
        is_escaped = is_text && *byte == b'\\' && !is_escaped;
    }
    Some(compact)
}

/// The JSON with each text as events have it: nothing is escaped that need not be.
fn plain(json: &[u8]) -> Option<Vec<u8>> {
    let (mut plain, mut rest) = (Vec::with_capacity(json.len()), json);
    while let Some(start) = rest.iter().position(|it| *it == b'"') {
        let (before, from_there) = rest.split_at_checked(start)?;
        let mut texts = Deserializer::from_slice(from_there).into_iter::<String>();
        let text = texts.next()?.ok()?;
        plain.extend_from_slice(before);
        plain.extend(serde_json::to_vec(&text).ok()?);
        rest = from_there.get(texts.byte_offset()..)?;
    }
    plain.extend_from_slice(rest);
    Some(plain)
}

/// The event with its keys in the order in which its kind is written.
fn ordered(json: &[u8]) -> Option<Vec<u8>> {
    let event: Fields = serde_json::from_slice(json).ok()?;
    let named: String = serde_json::from_str(event.get("type")?.get()).ok()?;
    let kind = EventKind::ALL.iter().copied().find(|it| it.name() == named)?;
    let data: Fields = serde_json::from_str(event.get("data")?.get()).ok()?;
    let schema = bodies::schema(kind);
    let order = schema.pointer("/properties/data/required")?.as_array()?;
    let told = |name: &str| Some(format!("\"{name}\":{}", data.get(name)?.get()));
    let told: Option<Vec<String>> = order.iter().map(|it| told(it.as_str()?)).collect();
    let (kind, version) = (event.get("type")?, event.get("version")?);
    Some(format!("{{\"type\":{kind},\"version\":{version},\"data\":{{{}}}}}", told?.join(",")).into_bytes())
}
