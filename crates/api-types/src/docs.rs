//! Descriptions of fields for the API description. They are written as doc comments: schemars reads those of views, and
//! the macro [`field_docs!`](crate::field_docs) reads those of fields that occur only in requests. A doc comment may
//! end with an example, which is JSON between backticks after `Example:`.

use serde_json::Value;

/// The text and the example of a doc comment.
pub type DocComment = (String, Option<Value>);

/// Field names with their doc comments.
pub type FieldDocs = &'static [(&'static str, &'static str)];

/// Creates [`FieldDocs`] from field names with doc comments.
#[macro_export]
macro_rules! field_docs {
    ($($(#[doc = $line:literal])+ $name:ident,)+) => {
        &[$((stringify!($name), concat!($($line, "\n"),+))),+]
    };
}

/// Returns the doc comment of a field from `own` or, if `own` has none, from the first of `objects` that has a field of
/// that name with a doc comment.
pub fn find_doc<'a>(own: FieldDocs, objects: &[&'a Value], name: &str) -> Option<&'a str> {
    let own = own.iter().find(|(field, _)| *field == name).map(|(_, text)| *text);
    let place = format!("/properties/{name}/description");
    own.or_else(|| objects.iter().find_map(|object| object.pointer(&place)?.as_str()))
}

/// Splits a doc comment into its text, on one line, and its example.
pub fn split_doc(doc: &str) -> DocComment {
    let line = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    let split = line.rsplit_once(" Example: `").and_then(|(text, rest)| {
        Some((text.to_owned(), serde_json::from_str(rest.strip_suffix('`')?).ok()?))
    });
    split.map_or_else(|| (line, None), |(text, example)| (text, Some(example)))
}

/// Splits the doc comments of all properties of a schema, including those of nested objects.
pub fn split_all_docs(schema: &mut Value) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for property in properties.values_mut() {
        split_all_docs(property);
        if let Some(doc) = property.get("description").and_then(Value::as_str).map(split_doc) {
            set_doc(property, doc);
        }
    }
}

/// Sets the description and the example of a schema.
pub fn set_doc(schema: &mut Value, (text, example): DocComment) {
    let Value::Object(schema) = schema else { return };
    schema.insert("description".to_owned(), text.into());
    if let Some(example) = example {
        schema.insert("examples".to_owned(), Value::Array(vec![example]));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_doc_comment_ends_in_its_example() {
        let check = |doc: &str, text: &str, example: Option<Value>| {
            assert_eq!(split_doc(doc), (text.to_owned(), example), "{doc:?}");
        };
        check(" Today.\n", "Today.", None);
        check("Today. Example: `50`", "Today.", Some(json!(50)));
        check(
            " The name\n that people see.\n Example: `\"A B\"`\n",
            "The name that people see.",
            Some(json!("A B")),
        );
        check("Deleted. Example: `null`", "Deleted.", Some(Value::Null));
        check("Today. Example: `fifty`", "Today. Example: `fifty`", None);
    }
}
