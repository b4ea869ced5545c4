//! Distributions in several steps.

use guerdon_domain::commands::Command;
use guerdon_domain::distributions::{Recipients, RunDistribution};
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::{InTransit, StoreExt};
use guerdon_domain::users::{self, Profile};
use guerdon_domain::values::{self, EmailAddress};
use guerdon_domain::wallets::WalletType;
use uuid::Uuid;

use super::{Setup, company};

#[test]
fn a_retried_distribution_finishes_its_remaining_steps() {
    const CROWD: usize = 1_500;
    let setup = Setup::new();
    let company = company(&setup);
    let id = company.parse::<Uuid>().unwrap();
    let context = setup.environment.context();
    let provider =
        setup.environment.store.snapshot(|reads| reads.provider_of_company(id.into())).unwrap().unwrap();
    setup
        .environment
        .store
        .transaction(|tx| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
            for number in 0..CROWD {
                let email = EmailAddress::parse(&format!("u{number}@example.com")).unwrap();
                let profile = Profile::named(email, values::Line::parse("User").unwrap(), None);
                users::create(tx, provider, id.into(), &profile, &context)?;
            }
            Ok(())
        })
        .unwrap();
    setup.run(&["reserve", "deposit", &company, "--points", "10000"]).unwrap();
    let words = ["distribution", "run", &company, "--wallet", "peer_wallet", "--points", "2", "--key", "k"];
    let first = setup.run(&words).unwrap();
    let store = &setup.environment.store;
    let recipients = store.snapshot(|reads| Recipients::all(reads, id.into(), WalletType::Peer)).unwrap();
    let (wallet, sum) = (WalletType::Peer, Sum::Points(Points::new(1).unwrap()));
    let begun = RunDistribution { company_id: id.into(), wallet, sum, recipients, schedule: None };
    let by = context.origin.into();
    // The process ends here.
    setup.environment.commands.carry_out(provider, &by, Command::RunDistribution(begun)).unwrap();
    assert_eq!(store.snapshot(|reads| reads.in_transit()).unwrap().points, 1_501);
    assert_eq!(setup.run(&words).unwrap(), first);
    assert_eq!(store.snapshot(|reads| reads.in_transit()).unwrap(), InTransit::default());
    assert_eq!(setup.json(&["verify"])["ok"], true);
}
