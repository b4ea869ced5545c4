//! `guerdon openapi`, `guerdon completions` and `guerdon man`. The last two generate their output from the definition
//! of the command line.

use std::io::Write as _;

use anyhow::Result;
use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::application::describe_api;
use crate::commands::CommandOutput;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
}

/// The shell.
#[derive(Debug, clap::Args)]
#[command(after_help = r"Examples:
  guerdon completions bash
  guerdon completions zsh")]
pub(crate) struct Completions {
    #[arg(value_enum)]
    shell: ShellName,
}

impl Completions {
    pub(super) fn render_completions(&self, mut program: Command) -> Result<CommandOutput> {
        let shell = match self.shell {
            ShellName::Bash => Shell::Bash,
            ShellName::Zsh => Shell::Zsh,
            ShellName::Fish => Shell::Fish,
        };
        let mut text = Vec::new();
        generate(shell, &mut program, "guerdon", &mut text);
        text_output(text)
    }
}

/// Prints the OpenAPI description.
pub(super) fn render_openapi() -> Result<CommandOutput> {
    let description = describe_api();
    Ok(CommandOutput {
        text: format!("{description:#}"),
        json: description.to_string(),
        status: 0,
        ..CommandOutput::default()
    })
}

/// Renders the manual page of the program, with a section for each command.
pub(super) fn render_manual(mut program: Command) -> Result<CommandOutput> {
    program.build();
    let mut text = Vec::new();
    let page = Man::new(program.clone());
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    for command in program.get_subcommands() {
        render_command(command, "guerdon", &mut text)?;
    }
    page.render_version_section(&mut text)?;
    text_output(text)
}

/// Renders the section of a command, or of each command in a group.
fn render_command(command: &Command, above: &str, text: &mut Vec<u8>) -> Result<()> {
    let name = format!("{above} {}", command.get_name());
    if command.get_name() == "help" {
        return Ok(());
    }
    if command.has_subcommands() {
        return command.get_subcommands().try_for_each(|subcommand| render_command(subcommand, &name, text));
    }
    let own = command
        .clone()
        .mut_args(|argument| if argument.is_global_set() { argument.hide(true) } else { argument });
    let (page, mut section) = (Man::new(own), Vec::new());
    page.render_description_section(&mut section)?;
    page.render_synopsis_section(&mut section)?;
    page.render_options_section(&mut section)?;
    page.render_extra_section(&mut section)?;
    // The sections of a command's page become subsections of this page.
    let section = String::from_utf8(section)?.replace(".SH ", ".SS ");
    let section = section.replace(".SS EXTRA\nExamples:\n", ".SS EXAMPLES\n");
    writeln!(text, ".SH \"{}\"\n{section}", name.to_uppercase())?;
    Ok(())
}

fn text_output(text: Vec<u8>) -> Result<CommandOutput> {
    let text = String::from_utf8(text)?;
    Ok(CommandOutput { json: serde_json::to_string(&text)?, text, ..CommandOutput::default() })
}
