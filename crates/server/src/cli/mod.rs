//! The command line: its arguments and help, and running what it asks for.

mod help;
mod run;

use std::path::PathBuf;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::commands::{Command, Format, Runnable as _};
use crate::dev;
use crate::platform::build_info::LONG;
use crate::tools::Tool;

pub use run::main;

/// Guerdon: the recognition service for providers.
#[derive(Parser)]
#[command(name = "guerdon", version = LONG, about, arg_required_else_help = true, max_term_width = 80)]
pub(crate) struct Cli {
    /// A TOML file of settings; environment variables named GUERDON_… override it.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(crate) config: Option<PathBuf>,
    /// What commands print: `text` for people, or `json`, one object or an array for a list
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "text",
        value_name = "FORMAT",
        help_heading = "Global options",
        hide_possible_values = true
    )]
    pub(crate) output: Format,
    #[command(subcommand)]
    pub(crate) what: What,
}

impl Cli {
    /// Parses the command line. Ends the process if that fails, or if help or the version is asked for.
    pub(crate) fn parse_or_exit() -> Self {
        let matches = help::prepare_help(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// What the command line asks for.
#[derive(Subcommand)]
pub(crate) enum What {
    /// Serve the provider API; makes or migrates the database first.
    #[command(after_help = "Examples:\n  guerdon serve\n  guerdon --config /etc/guerdon/guerdon.toml serve")]
    Serve,
    Dev(dev::Arguments),
    /// Make the database, or bring it up to this program's version.
    #[command(after_help = "Examples:\n  guerdon migrate\n  guerdon --output json migrate")]
    Migrate,
    /// The settings.
    #[command(subcommand)]
    Config(Config),
    #[command(flatten)]
    Tool(Tool),
    #[command(flatten)]
    Work(Command),
}

impl What {
    /// Returns whether it changes nothing.
    pub(crate) fn is_reading(&self) -> bool {
        match self {
            Self::Serve | Self::Dev(_) | Self::Migrate => false,
            Self::Config(_) => true,
            Self::Tool(tool) => tool.is_reading(),
            Self::Work(command) => command.is_reading(),
        }
    }
}

/// The settings.
#[derive(Subcommand)]
pub(crate) enum Config {
    /// Check that the settings can be understood and used
    #[command(after_help = "Examples:\n  guerdon config check\n  guerdon config check --connect")]
    Check {
        /// Try what they name, too: database, master key, mail server, folders
        #[arg(long)]
        connect: bool,
    },
    /// Show every setting in force; no secret is shown.
    #[command(after_help = "Examples:\n  guerdon config show\n  guerdon --output json config show")]
    Show,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
