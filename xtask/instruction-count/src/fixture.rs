//! The fixture of the hot paths: a provider, a company, a sender with points and eleven receivers.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use guerdon_domain::commands::ContextSources;
use guerdon_domain::companies::{self, CreateCompany};
use guerdon_domain::decide::execute_command;
use guerdon_domain::journal::Requester;
use guerdon_domain::memory::{FixedClock, PlainBodies, SequentialIds};
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::occasions::{self, OccasionText};
use guerdon_domain::overrides::OverrideBalance;
use guerdon_domain::ports::{Context, IdGenerator as _, LedgerTx, Timestamp};
use guerdon_domain::providers::{self, CreateProvider};
use guerdon_domain::recognitions::{Receivers, SendRecognition, Sender};
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};
use guerdon_domain::users::{self, Profile};
use guerdon_domain::values::{
    DomainName, EmailAddress, Message, OccasionId, ProviderId, SingleLine, UserId, WebUrl,
};
use guerdon_domain::wallets::WalletType;

/// The points in each wallet of the sender, more than any run spends.
const POINTS: i64 = 1_000_000;

pub(crate) struct Fixture {
    clock: FixedClock,
    ids: Arc<SequentialIds>,
    pub(crate) provider: ProviderId,
    pub(crate) sender: UserId,
    occasion: OccasionId,
    receivers: Vec<UserId>,
}

impl Fixture {
    pub(crate) fn create<T: LedgerTx + ?Sized>(tx: &mut T) -> Result<Self> {
        let (clock, ids) = (FixedClock(Timestamp::UNIX_EPOCH), Arc::<SequentialIds>::default());
        let context = command_context(&clock, &ids);
        let provider = ProviderId::from_uuid(ids.next_id());
        let name = SingleLine::parse("Acme")?;
        providers::create(tx, CreateProvider::without_credentials(provider, name.clone()), &context)?;
        let owner = (EmailAddress::parse("ada@example.com")?, SingleLine::parse("Ada")?);
        let (domain, logo) =
            (DomainName::parse("example.com")?, WebUrl::parse("https://example.com/logo.png")?);
        let command = CreateCompany::with_defaults(domain, name.clone(), owner, logo);
        let company = companies::create(tx, provider, &command, &context)?.company.id;
        let text =
            OccasionText { name: name.clone(), title: name, default_message: Message::parse("Thank you")? };
        let occasion = occasions::create(tx, provider, company, &text, true, true, &context)?.id;
        let mut all = Vec::new();
        for number in 0..12 {
            let email = EmailAddress::parse(&format!("user-{number}@example.com"))?;
            let profile =
                Profile::with_name(email, SingleLine::parse("Grace")?, Some(SingleLine::parse("Hopper")?));
            all.push(users::create(tx, provider, company, &profile, &context)?.id);
        }
        let (sender, receivers) = all.split_first().context("no user")?;
        let points = Points::new(POINTS).context("points")?;
        for wallet in [WalletType::Peer, WalletType::User] {
            let (company_id, sum) = (company, Sum::Points(points));
            let deposit = ChangeReserve { company_id, direction: ReserveDirection::Deposit, sum };
            execute_command(tx, provider, &deposit, &context)?;
            execute_command(tx, provider, &OverrideBalance { user_id: *sender, wallet, sum }, &context)?;
        }
        let (sender, receivers) = (*sender, receivers.to_vec());
        Ok(Self { clock, ids, provider, sender, occasion, receivers })
    }

    pub(crate) fn context(&self) -> Context<'_> {
        command_context(&self.clock, &self.ids)
    }

    pub(crate) fn context_sources(&self) -> ContextSources {
        ContextSources {
            clock: Arc::new(self.clock),
            ids: Arc::<SequentialIds>::clone(&self.ids),
            bodies: Arc::new(PlainBodies),
        }
    }

    /// Returns a recognition of one point by the sender.
    pub(crate) fn recognition_to(&self, receivers: usize) -> Result<SendRecognition> {
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

fn command_context<'a>(clock: &'a FixedClock, ids: &'a SequentialIds) -> Context<'a> {
    Context { clock, ids, bodies: &PlainBodies, requester: &Requester::OPERATOR }
}
