//! Commands that are run where they are given, not where the database is.

mod backup;
mod config_check;
mod healthcheck;
mod listen;
mod pages;
mod restore;
mod status;
mod webhook;

use anyhow::Result;
use clap::{Command, Subcommand};

use crate::application::run_command;
use crate::commands::{Command as Work, Output, SendExample};
use crate::settings::Settings;
use crate::terminal::Progress;

pub(crate) use config_check::check_config;

/// A command that is run where it is given.
#[derive(Subcommand)]
pub(crate) enum Tool {
    /// Signed events: is one genuine?
    #[command(subcommand)]
    Webhook(Webhook),
    /// Bring a provider's events to an address of this machine, with the API credentials alone
    ///
    /// The credentials come from GUERDON_API_KEY and GUERDON_API_SECRET. Each event is printed with what the address
    /// answered; where it stops, it goes on the next time.
    Listen(listen::Listen),
    /// Copy the embedded database into a file, while it is in use.
    Backup(backup::Backup),
    /// Put a backup of the embedded database into an empty data folder.
    Restore(restore::Restore),
    /// Show how the running service stands, on one screen.
    #[command(after_help = "Examples:\n  guerdon status\n  guerdon --output json status")]
    Status,
    /// Ask the running service whether it is ready; exit 0 where it is.
    #[command(after_help = "Examples:\n  guerdon healthcheck\n  guerdon --output json healthcheck")]
    Healthcheck,
    /// Print the description of the API (OpenAPI 3.1), as `GET /openapi.json` serves it.
    #[command(after_help = "Examples:\n  guerdon openapi\n  guerdon --output json openapi")]
    Openapi,
    /// Print what a shell needs to complete these commands.
    Completions(pages::Completions),
    /// Print the manual page.
    #[command(after_help = "Examples:\n  guerdon man\n  guerdon --output json man")]
    Man,
}

/// Signed events.
#[derive(Subcommand)]
pub(crate) enum Webhook {
    /// Check a delivery; exit 1 with the part that is wrong, and how to mend it.
    #[command(after_help = r"Examples:
  guerdon webhook verify --url https://acme.example/hook --shared-secret gw_1 \
    --headers HEADERS --body BODY
  guerdon --output json webhook verify --url https://acme.example/hook \
    --shared-secret gw_1 --headers HEADERS --body BODY")]
    Verify(webhook::Verify),
    /// Send one signed example event to a provider's callback URL, and say what it answered.
    #[command(
        after_help = "Examples:\n  guerdon webhook send-example Acme --type recognition.received\n  guerdon webhook send-example Acme --type redemption.created"
    )]
    SendExample(SendExample),
}

impl Tool {
    /// Whether it may take so long that a terminal should show something meanwhile.
    pub(crate) fn may_take_long(&self) -> bool {
        matches!(self, Self::Backup(_) | Self::Restore(_))
    }

    /// Whether it changes and sends nothing.
    pub(crate) fn is_reading(&self) -> bool {
        !matches!(
            self,
            Self::Backup(_) | Self::Restore(_) | Self::Listen(_) | Self::Webhook(Webhook::SendExample(_))
        )
    }

    /// Runs it; `program` is the command line that shells and manuals tell of.
    pub(crate) fn run(&self, settings: &Settings, program: Command, progress: &Progress) -> Result<Output> {
        match self {
            Self::Webhook(Webhook::Verify(it)) => it.run(),
            Self::Webhook(Webhook::SendExample(it)) => {
                run_command(settings, &Work::SendExample(it.clone()), &Progress::default())
            }
            Self::Listen(it) => it.run(),
            Self::Backup(it) => it.run(settings, progress),
            Self::Restore(it) => it.run(settings),
            Self::Status => status::run(settings),
            Self::Healthcheck => healthcheck::run(settings),
            Self::Openapi => pages::openapi(),
            Self::Completions(it) => it.run(program),
            Self::Man => pages::manual(program),
        }
    }
}
