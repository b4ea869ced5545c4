//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::build_info::LONG;
use crate::commands::{Command, Format};
use crate::dev;
use crate::tools::Tool;

/// Guerdon: the recognition service for providers.
#[derive(Parser)]
#[command(name = "guerdon", version = LONG, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// A TOML file of settings; environment variables named GUERDON_… override it.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// What commands print: text for people, or one JSON object (an array for a list).
    #[arg(long, global = true, value_enum, default_value = "text")]
    pub(crate) output: Format,
    #[command(subcommand)]
    pub(crate) what: What,
}

/// What is to be done.
#[derive(Subcommand)]
pub(crate) enum What {
    /// Serve the provider API; makes or migrates the database first.
    Serve,
    Dev(dev::Arguments),
    /// Make the database, or bring it up to this program's version.
    Migrate,
    /// The settings.
    #[command(subcommand)]
    Config(Config),
    #[command(flatten)]
    Tool(Tool),
    #[command(flatten)]
    Work(Command),
}

/// The settings.
#[derive(Subcommand)]
pub(crate) enum Config {
    /// Check that the settings can be understood and used.
    Check,
    /// Show every setting in force; no secret is shown.
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
