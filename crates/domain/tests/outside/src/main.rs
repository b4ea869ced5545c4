//! Sends a recognition to a team in the in-memory store, and prints each member's balance.

use std::error::Error;

use guerdon_domain::companies::{self, CreateCompany};
use guerdon_domain::decide::execute_command;
use guerdon_domain::journal::Requester;
use guerdon_domain::memory::{FixedClock, MemoryStore, PlainBodies, SequentialIds};
use guerdon_domain::money::{Points, PointsPerDollar, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::ports::{Context, IdGenerator, ReadAccounts, Timestamp};
use guerdon_domain::providers::{self, CreateProvider};
use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};
use guerdon_domain::users::{self, Profile};
use guerdon_domain::values::{DomainName, EmailAddress, Message, ProviderId, SingleLine, WebUrl};

fn main() -> Result<(), Box<dyn Error>> {
    let (clock, ids) = (FixedClock(Timestamp::UNIX_EPOCH), SequentialIds::default());
    let requester = &Requester::OPERATOR;
    let context = Context { clock: &clock, ids: &ids, bodies: &PlainBodies, requester };
    let store = MemoryStore::default();

    let recognitions = store.transaction(|tx| -> Result<_, Box<dyn Error>> {
        let name = SingleLine::parse("Releases")?;
        let provider = ProviderId::from_uuid(ids.next_id());
        providers::create(tx, CreateProvider::without_credentials(provider, name.clone()), &context)?;

        let owner = (EmailAddress::parse("ada@example.com")?, SingleLine::parse("Ada")?);
        let (domain, logo) =
            (DomainName::parse("example.com")?, WebUrl::parse("https://example.com/logo.png")?);
        let command = CreateCompany::with_defaults(domain, name.clone(), owner, logo);
        let company = companies::create(tx, provider, &command, &context)?.company;
        let sum = Sum::Points(Points::new(100).ok_or("negative")?);
        let deposit = ChangeReserve { company_id: company.id, direction: ReserveDirection::Deposit, sum };
        execute_command(tx, provider, &deposit, &context)?;

        let mut receivers = Vec::new();
        for name in ["bob", "cleo"] {
            let email = EmailAddress::parse(&format!("{name}@example.com"))?;
            let profile = Profile::with_name(email, SingleLine::parse(name)?, None);
            receivers.push(users::create(tx, provider, company.id, &profile, &context)?.id.to_string());
        }
        let text =
            OccasionText { name: name.clone(), title: name, default_message: Message::parse("Well done")? };
        let occasion = occasions::create(tx, provider, company.id, &text, true, true, &context)?;
        let command = SendRecognition {
            occasion_id: occasion.id,
            sender: Sender::Company(company.id),
            receivers: Receivers::parse(&receivers.join(","))?,
            points_per_receiver: 25,
            message: None,
            share: true,
        };
        Ok(execute_command(tx, provider, &command, &context)?)
    })?;

    for recognition in &recognitions {
        let wallets = store.transaction(|tx| tx.list_wallets(recognition.receiver_id))?;
        let points = wallets.first().map_or(0, |wallet| wallet.points_at(PointsPerDollar::DEFAULT).get());
        println!("{}: {points}", recognition.message);
    }
    println!("{} events", store.queued_events().len());
    Ok(())
}
