//! Compares the schema of a database with the schema that the migrations create in an empty one. `diesel print-schema`
//! describes only tables and columns; here, indexes, triggers and functions matter too.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};

/// A table's column, constraint, index, trigger or function, as the database describes it.
#[derive(QueryableByName)]
pub(crate) struct SchemaObject {
    /// Its kind and name.
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    definition: String,
    /// Whether an additional object of its kind can change behaviour. An additional index cannot.
    #[diesel(sql_type = Bool)]
    matters: bool,
}

/// The objects that are missing, changed or additional, one line each.
pub(crate) fn find_differences(wanted: Vec<SchemaObject>, found: Vec<SchemaObject>) -> Vec<String> {
    let plain = |object: &SchemaObject| object.definition.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found: BTreeMap<String, SchemaObject> =
        found.into_iter().map(|object| (object.name.clone(), object)).collect();
    let mut lines = Vec::new();
    for object in wanted {
        match found.remove(&object.name) {
            None => lines.push(format!("{} is missing", object.name)),
            Some(existing) if plain(&existing) != plain(&object) => {
                lines.push(format!("{} was changed: {}", object.name, plain(&existing)));
            }
            Some(_) => {}
        }
    }
    let added = found.into_values().filter(|object| object.matters);
    lines.extend(added.map(|object| format!("{} was added: {}", object.name, plain(&object))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_object(name: &str, definition: &str, matters: bool) -> SchemaObject {
        SchemaObject { name: name.to_owned(), definition: definition.to_owned(), matters }
    }

    #[test]
    fn missing_changed_and_added_objects_are_reported() {
        let wanted =
            || vec![new_object("a", "x  y", true), new_object("b", "1", true), new_object("c", "2", false)];
        assert_eq!(find_differences(wanted(), wanted()), Vec::<String>::new());
        let found = vec![
            new_object("a", "x\ny", true),
            new_object("b", "3", true),
            new_object("d", "4", true),
            new_object("e", "5", false),
        ];
        let expected = ["b was changed: 3", "c is missing", "d was added: 4"];
        assert_eq!(find_differences(wanted(), found), expected);
    }
}
