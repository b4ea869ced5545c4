//! Distributions in several steps.

use guerdon_domain::commands::Command;
use guerdon_domain::distributions::{Recipients, RunDistribution};
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::{StoreExt, UnfinishedDistributions};
use guerdon_domain::users::{self, Profile};
use guerdon_domain::values::{self, EmailAddress};
use guerdon_domain::wallets::WalletType;
use uuid::Uuid;

use super::{Setup, create_company};
use crate::commands::{RunnableCommand as _, Seal};
use crate::maintenance::sealing::describe_seal_delay;

#[test]
fn a_retried_distribution_finishes_its_remaining_steps() {
    const USERS: usize = 1_500;
    let setup = Setup::new();
    let company = create_company(&setup);
    let id = company.parse::<Uuid>().unwrap();
    let context = setup.environment.context();
    let provider =
        setup.environment.store.read_snapshot(|reads| reads.provider_of_company(id.into())).unwrap().unwrap();
    setup
        .environment
        .store
        .transaction(|tx| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            for number in 0..USERS {
                let email = EmailAddress::parse(&format!("u{number}@example.com")).unwrap();
                let profile = Profile::with_name(email, values::SingleLine::parse("User").unwrap(), None);
                users::create(tx, provider, id.into(), &profile, &context)?;
            }
            Ok(())
        })
        .unwrap();
    setup.run_for_json(&["reserve", "deposit", &company, "--points", "10000"]).unwrap();
    let arguments =
        ["distribution", "run", &company, "--wallet", "peer_wallet", "--points", "2", "--key", "k"];
    let first = setup.run_for_json(&arguments).unwrap();
    let store = &setup.environment.store;
    let recipients =
        store.read_snapshot(|reads| Recipients::all_active(reads, id.into(), WalletType::Peer)).unwrap();
    let (wallet, sum) = (WalletType::Peer, Sum::Points(Points::new(1).unwrap()));
    let interrupted = RunDistribution { company_id: id.into(), wallet, sum, recipients, schedule: None };
    // Simulates a process that ends after it has committed the distribution, but before it has paid all users.
    setup
        .environment
        .commands
        .execute_command(provider, context.requester, Command::RunDistribution(interrupted))
        .unwrap();
    assert_eq!(store.read_snapshot(|reads| reads.unfinished_distributions()).unwrap().points, 1_501);
    assert_a_backup_is_possible(&setup, &company);
    assert_eq!(setup.run_for_json(&arguments).unwrap(), first);
    assert_eq!(
        store.read_snapshot(|reads| reads.unfinished_distributions()).unwrap(),
        UnfinishedDistributions::default()
    );
    assert_eq!(setup.run_for_value(&["verify"])["ok"], true);
}

/// A distribution that is not finished does not prevent a backup.
fn assert_a_backup_is_possible(setup: &Setup, company: &str) {
    let output = Seal::for_backup().execute_in(&setup.environment).unwrap();
    assert!(output.json.contains("head"), "{}", output.json);
    let [note] = &output.notes[..] else { panic!("{:?}", output.notes) };
    assert!(note.contains(&format!("of company {company} is not finished")), "{note}");
    let delay = setup.environment.store.read_snapshot(describe_seal_delay).unwrap();
    assert!(delay.contains(company) && delay.contains("docs/runbook.md"), "{delay}");
}
