//! Imports of users.

use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::users::{ImportOutcome, Profile, create, import_users};
use guerdon_domain::values::{CompanyId, EmailAddress, SingleLine};
use serde_json::{Map, Value};

use super::super::arguments::identifiers::CompanyArgument;
use super::super::import::ImportRow;
use super::{Setup, create_company};

/// Random rows about a few users, in which an employee id or email may move from one user to another.
fn random_rows(seed: u64) -> Vec<ImportRow> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next_below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let row = |line| {
        let mut fields = Map::new();
        let mut set = |name: &str, value: String| drop(fields.insert(name.to_owned(), value.into()));
        if next_below(4) > 0 {
            set("employee_id", next_below(4).to_string());
        }
        if next_below(4) > 0 {
            let name = ["a", "B", "b", "c", "d", "not an address "][usize::try_from(next_below(6)).unwrap()];
            set("email", format!("{name}@example.com"));
        }
        if next_below(8) > 0 {
            set("first_name", ["Ann", "Bob"][usize::try_from(next_below(2)).unwrap()].to_owned());
        }
        set("last_name", "Lee".to_owned());
        let fields = if next_below(20) == 0 { Err("unreadable".to_owned()) } else { Ok(fields) };
        ImportRow { line, fields }
    };
    (0..24).map(row).collect()
}

/// Imports the rows into a new company in which two users have the same employee id, `batch_size` per batch. Returns
/// the outcome of each row and the users afterwards.
fn import_rows(rows: &[ImportRow], batch_size: usize) -> (Vec<String>, Vec<Value>) {
    let setup = Setup::new();
    let company: CompanyId = create_company(&setup).parse().unwrap();
    let environment = &setup.environment;
    let name: CompanyArgument = company.to_string().parse().unwrap();
    let provider = name.find_company(environment).unwrap().provider_id;
    for name in ["c", "d"] {
        let text = |text: &str| SingleLine::parse(text).unwrap();
        let address = EmailAddress::parse(&format!("{name}@example.com")).unwrap();
        let mut profile = Profile::with_name(address, text(name), Some(text("Lee")));
        profile.details.employee_id = Some(text("3"));
        environment
            .store
            .transaction(|tx| create(tx, provider, company, &profile, &environment.context()))
            .unwrap();
    }
    let mut outcomes = Vec::new();
    for batch in rows.chunks(batch_size) {
        let context = environment.context();
        let done = environment
            .store
            .transaction(|tx| import_users(tx, (provider, company), batch, &context))
            .unwrap();
        assert_eq!(done.len(), batch.len());
        outcomes.extend(done.into_iter().map(|imported| match imported {
            ImportOutcome::Created => "created".to_owned(),
            ImportOutcome::Updated => "updated".to_owned(),
            ImportOutcome::Unchanged => "unchanged".to_owned(),
            ImportOutcome::Refused(why) => why,
        }));
    }
    let mut users = setup.run_for_value(&["user", "list", "--company", &company.to_string()]);
    let users = users.as_array_mut().unwrap();
    for user in users.iter_mut() {
        user.as_object_mut().unwrap().retain(|name, _| !["id", "company_id"].contains(&name.as_str()));
        user.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_at"));
    }
    (outcomes, std::mem::take(users))
}

#[test]
fn a_batch_has_the_same_result_as_single_rows() {
    let mut outcomes = std::collections::BTreeMap::new();
    for seed in 0..16 {
        let rows = random_rows(seed);
        let (single, batched) = (import_rows(&rows, 1), import_rows(&rows, rows.len()));
        assert_eq!(batched, single, "seed {seed}: {rows:?}");
        for outcome in batched.0 {
            *outcomes.entry(outcome).or_insert(0) += 1;
        }
    }
    for outcome in
        ["created", "updated", "unchanged", "several active users have this employee_id", "unreadable"]
    {
        assert!(outcomes.get(outcome).is_some_and(|count| *count > 2), "{outcome}: {outcomes:?}");
    }
}
