//! Imports of users.

use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::users::{Imported, Profile, create, import};
use guerdon_domain::values::{CompanyId, EmailAddress, Line};
use serde_json::{Map, Value};

use super::super::arguments::names::CompanyName;
use super::super::import_file::Row;
use super::{Setup, company};

/// Rows about a few users, whose keys move from one user to another.
fn rows(seed: u64) -> Vec<Row> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let row = |line| {
        let mut fields = Map::new();
        let mut set = |name: &str, value: String| drop(fields.insert(name.to_owned(), value.into()));
        if below(4) > 0 {
            set("employee_id", below(4).to_string());
        }
        if below(4) > 0 {
            let name = ["a", "B", "b", "c", "d", "not an address "][usize::try_from(below(6)).unwrap()];
            set("email", format!("{name}@example.com"));
        }
        if below(8) > 0 {
            set("first_name", ["Ann", "Bob"][usize::try_from(below(2)).unwrap()].to_owned());
        }
        set("last_name", "Lee".to_owned());
        let fields = if below(20) == 0 { Err("unreadable".to_owned()) } else { Ok(fields) };
        Row { line, fields }
    };
    (0..24).map(row).collect()
}

/// Imports the rows into a new company in which two users have the same employee id, `at_once` per batch. Returns the
/// outcome of each row and the users afterwards.
fn imported(rows: &[Row], at_once: usize) -> (Vec<String>, Vec<Value>) {
    let setup = Setup::new();
    let company: CompanyId = company(&setup).parse().unwrap();
    let environment = &setup.environment;
    let name: CompanyName = company.to_string().parse().unwrap();
    let scope = name.load(environment).unwrap().provider_id;
    for name in ["c", "d"] {
        let text = |text: &str| Line::parse(text).unwrap();
        let address = EmailAddress::parse(&format!("{name}@example.com")).unwrap();
        let mut profile = Profile::named(address, text(name), Some(text("Lee")));
        profile.details.employee_id = Some(text("3"));
        environment
            .store
            .transaction(|tx| create(tx, scope, company, &profile, &environment.context()))
            .unwrap();
    }
    let mut all = Vec::new();
    for batch in rows.chunks(at_once) {
        let context = environment.context();
        let done = environment.store.transaction(|tx| import(tx, (scope, company), batch, &context)).unwrap();
        assert_eq!(done.len(), batch.len());
        all.extend(done.into_iter().map(|imported| match imported {
            Imported::Created => "created".to_owned(),
            Imported::Updated => "updated".to_owned(),
            Imported::Unchanged => "unchanged".to_owned(),
            Imported::Refused(why) => why,
        }));
    }
    let mut users = setup.json(&["user", "list", "--company", &company.to_string()]);
    let users = users.as_array_mut().unwrap();
    for user in users.iter_mut() {
        user.as_object_mut().unwrap().retain(|name, _| !["id", "company_id"].contains(&name.as_str()));
        user.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_at"));
    }
    (all, std::mem::take(users))
}

#[test]
fn a_batch_has_the_same_result_as_single_rows() {
    let mut outcomes = std::collections::BTreeMap::new();
    for seed in 0..16 {
        let rows = rows(seed);
        let (alone, together) = (imported(&rows, 1), imported(&rows, rows.len()));
        assert_eq!(together, alone, "seed {seed}: {rows:?}");
        for outcome in together.0 {
            *outcomes.entry(outcome).or_insert(0) += 1;
        }
    }
    for outcome in
        ["created", "updated", "unchanged", "several active users have this employee_id", "unreadable"]
    {
        assert!(outcomes.get(outcome).is_some_and(|count| *count > 2), "{outcome}: {outcomes:?}");
    }
}
