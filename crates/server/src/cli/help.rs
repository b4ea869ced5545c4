//! Wraps the usage lines in the help of every command for a narrow terminal.

use clap::Command;

/// The maximum length of a line in help texts.
const LINE_LENGTH_MAX: usize = 80;

/// Wraps the usage lines that are too long, in every command of the program.
pub(super) fn prepare_help(program: Command) -> Command {
    wrap_usage_lines(program, "")
}

fn wrap_usage_lines(mut command: Command, path: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|subcommand| subcommand.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path} {name}").trim_start().to_owned();
        command = command.mut_subcommand(&name, |subcommand| wrap_usage_lines(subcommand, &path));
    }
    if !path.is_empty() {
        let name = format!("guerdon {path}");
        let usage = command.clone().bin_name(&name).render_usage().to_string();
        let mut usage = usage.trim_start_matches("Usage: ").to_owned();
        if !usage.contains("[OPTIONS]") {
            usage = usage.replacen(&name, &format!("{name} [OPTIONS]"), 1); // the global options
        }
        if "Usage: ".len() + usage.chars().count() > LINE_LENGTH_MAX {
            command = command.override_usage(wrap_usage(&usage));
        }
    }
    command
}

/// Breaks a usage line between its arguments into lines that are short enough.
fn wrap_usage(usage: &str) -> String {
    let (mut wrapped, mut width) = (String::new(), "Usage: ".len());
    for word in split_usage(usage) {
        if !wrapped.is_empty() && width + 1 + word.chars().count() > LINE_LENGTH_MAX {
            wrapped.push_str("\n           ");
            width = 11;
        } else if !wrapped.is_empty() {
            wrapped.push(' ');
            width += 1;
        }
        wrapped.push_str(&word);
        width += word.chars().count();
    }
    wrapped
}

/// Splits a usage line into its words; an option and its value form one word.
fn split_usage(usage: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in usage.split(' ') {
        match parts.last_mut() {
            Some(option) if word.starts_with('<') && option.starts_with("--") && !option.contains(' ') => {
                option.push(' ');
                option.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Cli;
    use super::*;

    #[test]
    fn every_command_has_an_example() {
        fn assert_examples(command: &Command, path: &str) {
            for subcommand in command
                .get_subcommands()
                .filter(|subcommand| subcommand.get_name() != "help" && !subcommand.is_hide_set())
            {
                let path = format!("{path} {}", subcommand.get_name()).trim_start().to_owned();
                if subcommand.has_subcommands() {
                    assert_examples(subcommand, &path);
                    continue;
                }
                let help = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains(&path), "`guerdon {path}` has no example");
            }
        }
        assert_examples(&prepare_help(Cli::command()), "");
    }
}
