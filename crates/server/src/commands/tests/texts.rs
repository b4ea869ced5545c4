//! The text output of commands.

use super::{Setup, company};

#[test]
fn counts_agree_with_their_nouns_and_large_numbers_have_separators() {
    let setup = Setup::new();
    let id = company(&setup);
    let check = |words: &[&str], expected: &str| assert_eq!(setup.text(words), expected);
    check(
        &["reserve", "deposit", &id, "--points", "5000000"],
        "5,000,000 points ($100,000.00) put into the reserve of example.com: before 0 points ($0.00), \
         now 5,000,000 points ($100,000.00)",
    );
    check(
        &["distribution", "run", &id, "--wallet", "user_wallet", "--points", "1"],
        "1 user of example.com received 1 point ($0.02) each; the reserve held 5,000,000 points ($100,000.00), \
         now 4,999,999 points ($99,999.98)",
    );
}

#[test]
fn a_rotation_names_the_provider_and_the_end_of_the_old_secret() {
    let setup = Setup::new();
    setup.json(&["provider", "create", "--name", "Acme"]);
    let at_once = setup.text(&["provider", "rotate", "Acme", "--api-secret"]);
    assert!(
        at_once.starts_with("provider    Acme\n") && at_once.ends_with("old secret  no longer valid"),
        "{at_once}"
    );
    let graced = setup.text(&["provider", "rotate", "Acme", "--shared-secret", "--grace", "24"]);
    assert!(graced.contains("old secret     valid until 2"), "{graced}");
    let shown = setup.json(&["provider", "rotate", "Acme", "--shared-secret", "--grace", "24"]);
    assert!(shown["old_secret_valid_until"].as_str().unwrap().ends_with('Z'), "{shown}");
    let shown = setup.json(&["provider", "rotate", "Acme", "--api-secret"]);
    assert!(shown.get("old_secret_valid_until").is_none(), "{shown}");
}

#[test]
fn a_transfer_names_both_sides() {
    let setup = Setup::new();
    let id = company(&setup);
    let other = setup.json(&["provider", "create", "--name", "Other"]);
    let text = setup.text(&["company", "transfer", &id, "--to", "Other"]);
    let expected =
        format!("company example.com now belongs to provider Other ({})", other["id"].as_str().unwrap());
    assert_eq!(text, expected);
}
