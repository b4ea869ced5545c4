//! The checks of `verify` that need the master key.

use guerdon_domain::ports::StoreExt;
use guerdon_domain::providers::{CreateProvider, create};
use guerdon_domain::values::{ProviderId, SingleLine};
use uuid::Uuid;

use super::Setup;

#[test]
fn a_shared_secret_that_the_master_key_does_not_decrypt_is_reported() {
    let setup = Setup::new();
    setup.run_for_json(&["provider", "create", "--name", "Acme"]).unwrap();
    assert_eq!(setup.run_for_value(&["verify"])["ok"], true);
    let id = ProviderId::from_uuid(Uuid::from_u128(7));
    let forged = || CreateProvider {
        encrypted_shared_secret: vec![1; 64],
        ..CreateProvider::without_credentials(id, SingleLine::parse("Forged").unwrap())
    };
    let environment = &setup.environment;
    environment.store.transaction(|tx| create(tx, forged(), &environment.context())).unwrap();
    let found = setup.run_for_value(&["verify"]);
    let violations = found["violations"].as_array().unwrap();
    assert_eq!((found["ok"].as_bool(), violations.len()), (Some(false), 1), "{found}");
    assert!(violations[0].as_str().unwrap().contains(&id.to_string()), "{found}");
}

#[test]
fn a_missing_fingerprint_of_the_master_key_is_reported() {
    let setup = Setup::without_fingerprint();
    assert_eq!(setup.run_for_value(&["verify"])["ok"], true, "nothing is encrypted yet");
    setup.run_for_json(&["provider", "create", "--name", "Acme"]).unwrap();
    let found = setup.run_for_value(&["verify"]);
    let violations = found["violations"].as_array().unwrap();
    assert_eq!((found["ok"].as_bool(), violations.len()), (Some(false), 1), "{found}");
    assert!(violations[0].as_str().unwrap().contains("fingerprint of the master key"), "{found}");
}
