//! Commands that run in this process even while `serve` holds the database. Parts that need the database go through
//! `run_command`.

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
use crate::commands::{Command as Work, CommandOutput, SendExample};
use crate::settings::Settings;
use crate::terminal::Progress;

pub(crate) use config_check::check_config;

/// A command that runs in this process.
#[derive(Subcommand)]
pub(crate) enum Tool {
    /// Verify webhook signatures, or send an example event.
    #[command(subcommand)]
    Webhook(Webhook),
    /// Forward a provider's events to a receiver on this machine, using only the API credentials
    ///
    /// Reads the credentials from GUERDON_API_KEY and GUERDON_API_SECRET. Prints each event with the receiver's
    /// response. The next run continues where this one stops.
    Listen(listen::Listen),
    /// Back up the embedded database to a file while it is in use.
    Backup(backup::Backup),
    /// Restore a backup of the embedded database into an empty data folder.
    Restore(restore::Restore),
    /// Show the status of the running service.
    #[command(after_help = "Examples:\n  guerdon status\n  guerdon --output json status")]
    Status,
    /// Check whether the running service is ready; exits with 0 if it is.
    #[command(after_help = "Examples:\n  guerdon healthcheck\n  guerdon --output json healthcheck")]
    Healthcheck,
    /// Print the OpenAPI 3.1 description of the API, as served at `GET /openapi.json`.
    #[command(after_help = "Examples:\n  guerdon openapi\n  guerdon --output json openapi")]
    Openapi,
    /// Generate shell completions.
    Completions(pages::Completions),
    /// Generate the manual page.
    #[command(after_help = "Examples:\n  guerdon man\n  guerdon --output json man")]
    Man,
}

/// Commands for signed events.
#[derive(Subcommand)]
pub(crate) enum Webhook {
    /// Verify the signature of a delivery; if it is invalid, names the faulty part and how to fix it, and exits with 1.
    #[command(after_help = r"Examples:
  guerdon webhook verify --url https://acme.example/hook --shared-secret gw_1 \
    --headers HEADERS --body BODY
  guerdon --output json webhook verify --url https://acme.example/hook \
    --shared-secret gw_1 --headers HEADERS --body BODY")]
    Verify(webhook::Verify),
    /// Send a signed example event to a provider's callback URL and print the response.
    #[command(
        after_help = "Examples:\n  guerdon webhook send-example Acme --type recognition.received\n  guerdon webhook send-example Acme --type redemption.created"
    )]
    SendExample(SendExample),
}

impl Tool {
    /// Whether the command may take so long that a terminal should show its progress.
    pub(crate) fn may_take_long(&self) -> bool {
        matches!(self, Self::Backup(_) | Self::Restore(_))
    }

    /// Whether the command changes nothing and sends nothing.
    pub(crate) fn is_read_only(&self) -> bool {
        !matches!(
            self,
            Self::Backup(_) | Self::Restore(_) | Self::Listen(_) | Self::Webhook(Webhook::SendExample(_))
        )
    }

    /// Runs the command. `program` is the command line that completions and the manual page describe.
    pub(crate) fn run_tool(
        &self,
        settings: &Settings,
        program: Command,
        progress: &Progress,
    ) -> Result<CommandOutput> {
        match self {
            Self::Webhook(Webhook::Verify(command)) => command.verify_delivery(),
            Self::Webhook(Webhook::SendExample(command)) => {
                run_command(settings, &Work::SendExample(command.clone()), &Progress::default())
            }
            Self::Listen(command) => command.forward_events(),
            Self::Backup(command) => command.write_backup(settings, progress),
            Self::Restore(command) => command.restore_backup(settings),
            Self::Status => status::show_status(settings),
            Self::Healthcheck => healthcheck::check_readiness(settings),
            Self::Openapi => pages::render_openapi(),
            Self::Completions(command) => command.render_completions(program),
            Self::Man => pages::render_manual(program),
        }
    }
}
