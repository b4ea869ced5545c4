//! The text output of commands.

use super::{Setup, create_company};

#[test]
fn counts_agree_with_their_nouns_and_large_numbers_have_separators() {
    let setup = Setup::new();
    let id = create_company(&setup);
    let check = |arguments: &[&str], expected: &str| assert_eq!(setup.run_for_text(arguments), expected);
    check(
        &["reserve", "deposit", &id, "--points", "5000000"],
        "5,000,000 points ($100,000.00) deposited into the reserve of example.com: before 0 points ($0.00), \
         now 5,000,000 points ($100,000.00)",
    );
    check(
        &["distribution", "run", &id, "--wallet", "user_wallet", "--points", "1"],
        "1 user of example.com received 1 point ($0.02) each; the reserve held 5,000,000 points ($100,000.00), \
         now 4,999,999 points ($99,999.98)",
    );
}

#[test]
fn tables_have_separators() {
    let setup = Setup::new();
    let id = create_company(&setup);
    setup.run_for_value(&["reserve", "deposit", &id, "--points", "12"]);
    let schedule =
        ["--wallet", "peer_wallet", "--points", "12345", "--every", "week", "--start", "2100-01-01"];
    setup.run_for_value(&[&["distribution", "schedule", &id], schedule.as_slice()].concat());
    let list = setup.run_for_text(&["distribution", "list", &id]);
    assert!(list.contains("  12,345  "), "{list}");
    let run = ["distribution", "run", &id, "--wallet", "peer_wallet", "--points", "4321"];
    setup.assert_refused(&run, "Insufficient funds: 4,321 points needed, but the reserve holds 12 points");
}

#[test]
fn a_rotation_names_the_provider_and_the_end_of_the_old_secret() {
    let setup = Setup::new();
    setup.run_for_value(&["provider", "create", "--name", "Acme"]);
    let immediate = setup.run_for_text(&["provider", "rotate", "Acme", "--api-secret"]);
    assert!(
        immediate.starts_with("provider    Acme\n") && immediate.ends_with("old secret  no longer valid"),
        "{immediate}"
    );
    let with_grace = setup.run_for_text(&["provider", "rotate", "Acme", "--shared-secret", "--grace", "24"]);
    assert!(with_grace.contains("old secret     valid until 2"), "{with_grace}");
    let output = setup.run_for_value(&["provider", "rotate", "Acme", "--shared-secret", "--grace", "24"]);
    assert!(output["old_secret_valid_until"].as_str().unwrap().ends_with('Z'), "{output}");
    let output = setup.run_for_value(&["provider", "rotate", "Acme", "--api-secret"]);
    assert!(output.get("old_secret_valid_until").is_none(), "{output}");
}

#[test]
fn a_transfer_names_both_sides() {
    let setup = Setup::new();
    let id = create_company(&setup);
    let other = setup.run_for_value(&["provider", "create", "--name", "Other"]);
    let text = setup.run_for_text(&["company", "transfer", &id, "--to", "Other"]);
    let expected =
        format!("company example.com now belongs to provider Other ({})", other["id"].as_str().unwrap());
    assert_eq!(text, expected);
}
