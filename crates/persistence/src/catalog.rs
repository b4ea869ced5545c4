//! Compares the schema of a database with the schema that the migrations create in an empty one.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};

/// A table's column, constraint, index, trigger or function, as the database describes it.
#[derive(QueryableByName)]
pub(crate) struct Object {
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
pub(crate) fn differences(wanted: Vec<Object>, found: Vec<Object>) -> Vec<String> {
    let plain = |object: &Object| object.definition.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found: BTreeMap<String, Object> =
        found.into_iter().map(|object| (object.name.clone(), object)).collect();
    let mut lines = Vec::new();
    for it in wanted {
        match found.remove(&it.name) {
            None => lines.push(format!("{} is missing", it.name)),
            Some(there) if plain(&there) != plain(&it) => {
                lines.push(format!("{} is not as it was made: {}", it.name, plain(&there)));
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

    fn object(name: &str, definition: &str, matters: bool) -> Object {
        Object { name: name.to_owned(), definition: definition.to_owned(), matters }
    }

    #[test]
    fn what_is_missing_changed_or_added_is_told() {
        let wanted = || vec![object("a", "x  y", true), object("b", "1", true), object("c", "2", false)];
        assert_eq!(differences(wanted(), wanted()), Vec::<String>::new());
        let found = vec![
            object("a", "x\ny", true),
            object("b", "3", true),
            object("d", "4", true),
            object("e", "5", false),
        ];
        let told = ["b is not as it was made: 3", "c is missing", "d was added: 4"];
        assert_eq!(differences(wanted(), found), told);
    }
}
