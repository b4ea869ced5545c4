//! A team's thanks for the release, sent in memory; prints what each has then.

use std::error::Error;

use guerdon_domain::journal::{Actor, Origin};
use guerdon_domain::companies::{self, CreateCompany};
use guerdon_domain::memory::{CountedIds, Memory, PlainBodies, StillClock};
use guerdon_domain::decide::carry_out;
use guerdon_domain::money::{Points, PointsPerDollar, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::ports::{Context, Ids, ReadAccounts, Timestamp};
use guerdon_domain::providers::{self, CreateProvider};
use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
use guerdon_domain::reserve::{ChangeReserve, ReserveChange};
use guerdon_domain::users::{self, Profile};
use guerdon_domain::values::{DomainName, EmailAddress, Line, Message, ProviderId, WebUrl};

fn main() -> Result<(), Box<dyn Error>> {
    let (clock, ids) = (StillClock(Timestamp::UNIX_EPOCH), CountedIds::default());
    let origin = Origin { actor: Actor::Operator, reference: Some("outside"), key: None };
    let context = Context { clock: &clock, ids: &ids, bodies: &PlainBodies, origin };
    let store = Memory::default();

    let sent = store.transaction(|tx| -> Result<_, Box<dyn Error>> {
        let name = Line::parse("Releases")?;
        let provider = ProviderId::from_uuid(ids.next());
        providers::create(tx, CreateProvider::local(provider, name.clone()), &context)?;

        let owner = (EmailAddress::parse("ada@example.com")?, Line::parse("Ada")?);
        let (domain, logo) =
            (DomainName::parse("example.com")?, WebUrl::parse("https://example.com/logo.png")?);
        let command = CreateCompany::named(domain, name.clone(), owner, logo);
        let company = companies::create(tx, provider, &command, &context)?.company;
        let sum = Sum::Points(Points::new(100).ok_or("negative")?);
        let deposit = ChangeReserve { company_id: company.id, change: ReserveChange::Deposit, sum };
        carry_out(tx, provider, &deposit, &context)?;

        let mut receivers = Vec::new();
        for name in ["bob", "cleo"] {
            let email = EmailAddress::parse(&format!("{name}@example.com"))?;
            let profile = Profile::named(email, Line::parse(name)?, None);
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
        Ok(carry_out(tx, provider, &command, &context)?)
    })?;

    for it in &sent {
        let wallets = store.transaction(|tx| tx.wallets(it.receiver_id))?;
        let points = wallets.first().map_or(0, |it| it.points(PointsPerDollar::DEFAULT).get());
        println!("{}: {points}", it.message);
    }
    println!("{} events", store.events().len());
    Ok(())
}
