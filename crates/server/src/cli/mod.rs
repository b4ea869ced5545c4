//! The command line: its arguments and help, and how its commands are run.

mod help;
mod run;

use std::path::PathBuf;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::commands::{Command, Format, RunnableCommand as _};
use crate::dev;
use crate::platform::build_info::LONG_VERSION;
use crate::tools::Tool;

pub use run::main;

/// Run and operate Guerdon, a service for rewards and recognition.
#[derive(Parser)]
#[command(name = "guerdon", version = LONG_VERSION, arg_required_else_help = true, max_term_width = 80)]
pub(crate) struct Cli {
    /// Read settings from this TOML file; GUERDON_… environment variables override it.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(crate) config: Option<PathBuf>,
    /// Output format: `text`, or `json` (one object, or an array for a list)
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
    pub(crate) invocation: Invocation,
}

impl Cli {
    /// Parses the command line. Exits if it is invalid, or after printing the help or the version.
    pub(crate) fn parse_or_exit() -> Self {
        let matches = help::prepare_help(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

#[derive(Subcommand)]
pub(crate) enum Invocation {
    /// Run the service; create or migrate the database first.
    #[command(after_help = "Examples:\n  guerdon serve\n  guerdon --config /etc/guerdon/guerdon.toml serve")]
    Serve,
    Dev(dev::DevArguments),
    /// Create the database, or apply pending migrations.
    #[command(after_help = "Examples:\n  guerdon migrate\n  guerdon --output json migrate")]
    Migrate,
    /// Check or show the settings.
    #[command(subcommand)]
    Config(Config),
    #[command(flatten)]
    Tool(Tool),
    #[command(flatten)]
    Database(Command),
}

impl Invocation {
    /// Returns whether the command is read-only.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::Serve | Self::Dev(_) | Self::Migrate => false,
            Self::Config(_) => true,
            Self::Tool(tool) => tool.is_read_only(),
            Self::Database(command) => command.is_read_only(),
        }
    }
}

/// Check or show the settings.
#[derive(Subcommand)]
pub(crate) enum Config {
    /// Check that the settings are valid
    #[command(after_help = "Examples:\n  guerdon config check\n  guerdon config check --connect")]
    Check {
        /// Also check the database, master key, mail server and folders
        #[arg(long)]
        connect: bool,
    },
    /// Show all effective settings, with secrets masked.
    #[command(after_help = "Examples:\n  guerdon config show\n  guerdon --output json config show")]
    Show,
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, CommandFactory};

    #[test]
    fn the_command_line_definition_is_valid() {
        super::Cli::command().debug_assert();
    }

    #[test]
    #[should_panic(expected = "Short option names must be unique")]
    fn an_invalid_definition_is_noticed() {
        let of_the_same_name = ["user", "until"].map(|id| Arg::new(id).short('u'));
        Command::new("guerdon").args(of_the_same_name).debug_assert();
    }
}
