//! The operator's commands: one serialisable [`Command`], run in process against the store, or handed to the
//! running `serve` where that holds the embedded database.
//!
//! To add a command: a file here with its arguments, its view and its `run`; a variant of [`Command`]; an arm in
//! [`execute`].

mod company;
mod distribution;
mod error;
mod event;
mod idempotent;
mod maintenance;
mod occasion;
mod output;
mod provider;
mod provider_create;
mod provider_rotate;
mod recognition;
mod redemption;
mod reserve;
mod schedule;
mod seal;
mod verify;
mod wallet;

use std::num::NonZero;
use std::sync::Arc;

use clap::Subcommand;
use guerdon_domain::causes::{Actor, Origin};
use guerdon_domain::ports::{Context, Store};
use guerdon_webhook_dispatcher::Bodies;
use serde::{Deserialize, Serialize};

use crate::keys::Keys;
use crate::progress::Progress;
use crate::settings::Webhooks;
use crate::world::{SystemClock, SystemIds, user};

pub(crate) use error::CommandError;
pub(crate) use maintenance::ON as MAINTENANCE_ON;
pub(crate) use output::View;
pub(crate) use output::{Format, Output};

/// What a command works with.
pub(crate) struct Workplace {
    /// The database.
    pub(crate) store: Arc<dyn Store>,
    /// The keys over the secrets.
    pub(crate) keys: Arc<Keys>,
    /// What callbacks are allowed.
    pub(crate) webhooks: Webhooks,
    /// Who gives commands: the operating system's user of this process, which is also that of whoever hands one over.
    pub(crate) user: Option<String>,
    /// What a terminal shows meanwhile.
    pub(crate) progress: Progress,
    /// How many threads a long command may take: one, beside a service that answers others.
    pub(crate) threads: NonZero<usize>,
}

impl Workplace {
    /// Work on this database.
    pub(crate) fn new(store: Arc<dyn Store>, keys: Arc<Keys>, webhooks: Webhooks) -> Self {
        Self {
            store,
            keys,
            webhooks,
            user: user::name(),
            progress: Progress::default(),
            threads: NonZero::<usize>::MIN,
        }
    }

    /// What use cases are given: the world as it is.
    pub(crate) fn context(&self) -> Context<'_> {
        self.context_for(None)
    }

    /// The same, for a command that may be repeated under a key.
    pub(crate) fn context_for<'a>(&'a self, key: Option<&'a str>) -> Context<'a> {
        let origin = Origin { actor: Actor::Operator, reference: self.user.as_deref(), key };
        Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, origin }
    }
}

/// A command over the database.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Command {
    /// Check every ledger invariant, read-only; exit 1 and a line per violation.
    Verify(verify::Verify),
    /// Seal what is committed now, and print the head of the chain of seals.
    Seal,
    /// Providers and their credentials.
    #[command(subcommand)]
    Provider(ProviderCommand),
    /// Companies' options, and whose they are.
    #[command(subcommand)]
    Company(CompanyCommand),
    /// Companies' reserves.
    #[command(subcommand)]
    Reserve(ReserveCommand),
    /// Points from a reserve to many wallets.
    #[command(subcommand)]
    Distribution(DistributionCommand),
    /// Points spent on rewards.
    #[command(subcommand)]
    Redemption(RedemptionCommand),
    /// What users' wallets hold.
    #[command(subcommand)]
    Wallet(WalletCommand),
    /// Recognitions that were sent.
    #[command(subcommand)]
    Recognition(RecognitionCommand),
    /// Occasions.
    #[command(subcommand)]
    Occasion(OccasionCommand),
    /// Events on their way to providers.
    #[command(subcommand)]
    Event(EventCommand),
    /// Turn maintenance on (the API answers 503) or off.
    Maintenance(maintenance::Maintenance),
}

/// Providers and their credentials.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProviderCommand {
    /// Add a provider; its secrets are shown this once.
    Create(provider_create::Create),
    /// Show all providers, oldest first.
    List,
    /// Change a provider.
    Set(provider::Set),
    /// Replace a secret; the old one stops at once.
    Rotate(provider_rotate::Rotate),
}

/// Companies' options, and whose they are.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CompanyCommand {
    /// Set options of a company.
    Options(company::Options),
    /// Hand a company to another provider.
    Transfer(company::Transfer),
}

/// Companies' reserves.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReserveCommand {
    /// Show a company's reserve.
    Show(reserve::Show),
    /// Put points into a company's reserve.
    Deposit(reserve::Deposit),
}

/// Points from a reserve to many wallets.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DistributionCommand {
    /// Give points to users, all or nothing, from the reserve.
    Run(distribution::Run),
    /// Give points again and again, every week or every month.
    Schedule(schedule::Schedule),
    /// Show a company's schedules.
    List(schedule::List),
    /// End a schedule.
    Cancel(schedule::Cancel),
}

/// Occasions.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OccasionCommand {
    /// Add an occasion that every provider can use.
    CreateGlobal(occasion::CreateGlobal),
}

/// Points spent on rewards.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RedemptionCommand {
    /// Spend points of a user's earned wallet.
    Create(redemption::Create),
    /// Return what a redemption took, once.
    Refund(redemption::Refund),
}

/// What users' wallets hold.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WalletCommand {
    /// Replace what a wallet holds; the difference comes from the reserve, or goes there.
    Override(wallet::Override),
}

/// Recognitions that were sent.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecognitionCommand {
    /// Change what a recognition says, or whether it is public.
    Update(recognition::Update),
}

/// Events on their way to providers.
#[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EventCommand {
    /// Show events, oldest first.
    List(event::List),
    /// Make events due at once.
    Replay(event::Replay),
}

impl Command {
    /// Whether it may take so long that a terminal should show something meanwhile.
    pub(crate) fn may_take_long(&self) -> bool {
        matches!(self, Self::Verify(_) | Self::Distribution(DistributionCommand::Run(_)))
    }
}

/// Runs a command to its end.
pub(crate) fn execute(command: &Command, workplace: &Workplace) -> Result<Output, CommandError> {
    match command {
        Command::Verify(it) => it.run(workplace),
        Command::Seal => seal::run(workplace),
        Command::Provider(ProviderCommand::Create(it)) => it.run(workplace),
        Command::Provider(ProviderCommand::List) => provider::list(workplace),
        Command::Provider(ProviderCommand::Set(it)) => it.run(workplace),
        Command::Provider(ProviderCommand::Rotate(it)) => it.run(workplace),
        Command::Company(CompanyCommand::Options(it)) => it.run(workplace),
        Command::Company(CompanyCommand::Transfer(it)) => it.run(workplace),
        Command::Reserve(ReserveCommand::Show(it)) => it.run(workplace),
        Command::Reserve(ReserveCommand::Deposit(it)) => it.run(workplace),
        Command::Distribution(DistributionCommand::Run(it)) => it.run(workplace),
        Command::Distribution(DistributionCommand::Schedule(it)) => it.run(workplace),
        Command::Distribution(DistributionCommand::List(it)) => it.run(workplace),
        Command::Distribution(DistributionCommand::Cancel(it)) => it.run(workplace),
        Command::Occasion(OccasionCommand::CreateGlobal(it)) => it.run(workplace),
        Command::Redemption(RedemptionCommand::Create(it)) => it.run(workplace),
        Command::Redemption(RedemptionCommand::Refund(it)) => it.run(workplace),
        Command::Wallet(WalletCommand::Override(it)) => it.run(workplace),
        Command::Recognition(RecognitionCommand::Update(it)) => it.run(workplace),
        Command::Event(EventCommand::List(it)) => it.run(workplace),
        Command::Event(EventCommand::Replay(it)) => it.run(workplace),
        Command::Maintenance(it) => it.run(workplace),
    }
}

#[cfg(test)]
mod tests;
