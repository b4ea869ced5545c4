//! The fixture of the hot paths: a provider, a company, a sender with points and eleven receivers.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use guerdon_domain::commands::Surroundings;
use guerdon_domain::companies::{self, CreateCompany};
use guerdon_domain::decide::carry_out;
use guerdon_domain::journal::{Actor, Origin};
use guerdon_domain::memory::{CountedIds, PlainBodies, StillClock};
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::overrides::ReplaceBalance;
use guerdon_domain::ports::{Context, Ids as _, Ledger, Timestamp};
use guerdon_domain::providers::{self, CreateProvider};
use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
use guerdon_domain::reserve::{ChangeReserve, ReserveChange};
use guerdon_domain::users::{self, Profile};
use guerdon_domain::values::{
    DomainName, EmailAddress, Line, Message, OccasionId, ProviderId, UserId, WebUrl,
};
use guerdon_domain::wallets::WalletType;

/// More than any run spends.
const POINTS: i64 = 1_000_000;

pub(crate) struct Scene {
    clock: StillClock,
    ids: Arc<CountedIds>,
    pub(crate) provider: ProviderId,
    pub(crate) sender: UserId,
    occasion: OccasionId,
    receivers: Vec<UserId>,
}

impl Scene {
    pub(crate) fn create<T: Ledger + ?Sized>(tx: &mut T) -> Result<Self> {
        let (clock, ids) = (StillClock(Timestamp::UNIX_EPOCH), Arc::<CountedIds>::default());
        let context = context(&clock, &ids);
        let provider = ProviderId::from_uuid(ids.next());
        let name = Line::parse("Acme")?;
        providers::create(tx, CreateProvider::local(provider, name.clone()), &context)?;
        let owner = (EmailAddress::parse("ada@example.com")?, Line::parse("Ada")?);
        let (domain, logo) =
            (DomainName::parse("example.com")?, WebUrl::parse("https://example.com/logo.png")?);
        let command = CreateCompany::named(domain, name.clone(), owner, logo);
        let company = companies::create(tx, provider, &command, &context)?.company.id;
        let text =
            OccasionText { name: name.clone(), title: name, default_message: Message::parse("Thank you")? };
        let occasion = occasions::create(tx, provider, company, &text, true, true, &context)?.id;
        let mut all = Vec::new();
        for number in 0..12 {
            let email = EmailAddress::parse(&format!("user-{number}@example.com"))?;
            let profile = Profile::named(email, Line::parse("Grace")?, Some(Line::parse("Hopper")?));
            all.push(users::create(tx, provider, company, &profile, &context)?.id);
        }
        let (sender, receivers) = all.split_first().context("no user")?;
        let points = Points::new(POINTS).context("points")?;
        for wallet in [WalletType::Peer, WalletType::User] {
            let (company_id, sum) = (company, Sum::Points(points));
            let deposit = ChangeReserve { company_id, change: ReserveChange::Deposit, sum };
            carry_out(tx, provider, &deposit, &context)?;
            carry_out(tx, provider, &ReplaceBalance { user_id: *sender, wallet, sum }, &context)?;
        }
        let (sender, receivers) = (*sender, receivers.to_vec());
        Ok(Self { clock, ids, provider, sender, occasion, receivers })
    }

    pub(crate) fn context(&self) -> Context<'_> {
        context(&self.clock, &self.ids)
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings {
            clock: Arc::new(self.clock),
            ids: Arc::<CountedIds>::clone(&self.ids),
            bodies: Arc::new(PlainBodies),
        }
    }

    /// Returns a recognition of one point by the sender.
    pub(crate) fn thanks(&self, receivers: usize) -> Result<SendRecognition> {
        let ids: Vec<String> = self.receivers.iter().take(receivers).map(ToString::to_string).collect();
        Ok(SendRecognition {
            occasion_id: self.occasion,
            sender: Sender::User(self.sender),
            receivers: Receivers::parse(&ids.join(","))?,
            points_per_receiver: 1,
            message: None,
            share: true,
        })
    }
}

fn context<'a>(clock: &'a StillClock, ids: &'a CountedIds) -> Context<'a> {
    let origin = Origin { actor: Actor::Operator, reference: None, key: None };
    Context { clock, ids, bodies: &PlainBodies, origin }
}
