//! `guerdon completions` and `guerdon man`, made of the command line itself.

use anyhow::Result;
use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};

use crate::commands::Output;
use crate::description::description;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
}

/// For which shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    #[arg(value_enum)]
    shell: ShellName,
}

impl Completions {
    pub(super) fn run(&self, mut program: Command) -> Result<Output> {
        let shell = match self.shell {
            ShellName::Bash => Shell::Bash,
            ShellName::Zsh => Shell::Zsh,
            ShellName::Fish => Shell::Fish,
        };
        let mut text = Vec::new();
        generate(shell, &mut program, "guerdon", &mut text);
        printed(text)
    }
}

/// The description of the API.
pub(super) fn openapi() -> Result<Output> {
    let description = description();
    Ok(Output {
        text: format!("{description:#}"),
        json: description.to_string(),
        status: 0,
        ..Output::default()
    })
}

/// The page of the program, which names its commands.
pub(super) fn manual(mut program: Command) -> Result<Output> {
    let mut text = Vec::new();
    program.build();
    clap_mangen::Man::new(program).render(&mut text)?;
    printed(text)
}

fn printed(text: Vec<u8>) -> Result<Output> {
    let text = String::from_utf8(text)?;
    Ok(Output { json: serde_json::to_string(&text)?, text, ..Output::default() })
}
