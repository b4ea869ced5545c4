//! Guerdon's development commands: `cargo xtask --help`. One file per command.

mod bench;
mod campaign;
mod ci;
mod client_generation;
mod client_packages;
mod coverage;
mod deny;
mod dev;
mod instruction_count;
mod language;
mod measurement;
mod memory_folder;
mod migration;
mod npm;
mod openapi;
mod packaging;
mod pages;
mod postgres;
mod postgres_binaries;
mod provider_filters;
mod public_api;
mod publish;
mod python;
mod schemathesis;
mod secrets;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Guerdon's development commands")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Test(test::Arguments),
    /// Check rules that the compiler cannot: dependencies between crates, file lengths, migrations, metrics, READMEs,
    /// citations, links
    Tidy,
    Ci(ci::Arguments),
    /// Create a migration, or try the existing ones on temporary databases
    #[command(subcommand)]
    Migration(migration::Command),
    Dev(dev::Arguments),
    /// Check the files of `packaging` with the tools that use them, if they are installed
    Packaging,
    /// Check that each published crate can be packaged and built separately, and limit its dependencies
    Publish,
    PublicApi(public_api::Arguments),
    Openapi(openapi::Arguments),
    Bench(bench::Arguments),
    Campaign(campaign::Arguments),
    Schemathesis(schemathesis::Arguments),
    ClientGeneration(client_generation::Arguments),
    Clients(client_packages::Arguments),
    Deny(deny::Arguments),
    Secrets(secrets::Arguments),
    Pages(pages::Arguments),
    InstructionCount(instruction_count::Arguments),
    ProviderFilters(provider_filters::Arguments),
    Coverage(coverage::Arguments),
    /// Count idioms in comments and documents, one-word names and closures over `it`
    Language(language::Arguments),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    let workspace = Workspace::load()?;
    match command {
        Command::Test(arguments) if arguments.postgres_tls => {
            test::run(&workspace.with_release_features(), &arguments)
        }
        Command::Test(arguments) => test::run(&workspace, &arguments),
        Command::Tidy => tidy::run(&workspace),
        Command::Ci(arguments) => ci::run(&workspace.with_release_features(), &arguments),
        Command::Migration(command) => migration::run(&workspace, &command),
        Command::Dev(arguments) => dev::run(&workspace, &arguments),
        Command::Packaging => packaging::run(&workspace),
        Command::Publish => publish::check_packages(&workspace),
        Command::PublicApi(arguments) => public_api::run(&workspace, &arguments),
        Command::Openapi(arguments) => openapi::run(&workspace, &arguments),
        Command::Bench(arguments) => bench::run(&workspace, &arguments),
        Command::ClientGeneration(arguments) => client_generation::run(&workspace, &arguments),
        Command::Clients(arguments) => client_packages::run(&workspace, &arguments),
        Command::Deny(arguments) => deny::run(&workspace, &arguments),
        Command::Secrets(arguments) => secrets::run(&workspace, &arguments),
        Command::Pages(arguments) => pages::run(&workspace, &arguments),
        Command::Schemathesis(arguments) => schemathesis::run(&workspace, &arguments),
        Command::Campaign(arguments) => campaign::run(&workspace.with_release_features(), &arguments),
        Command::InstructionCount(arguments) => instruction_count::run(&workspace, &arguments),
        Command::ProviderFilters(arguments) => provider_filters::run(&workspace, &arguments),
        Command::Coverage(arguments) => coverage::run(&workspace, &arguments),
        Command::Language(arguments) => language::run(&workspace, &arguments),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_definition_is_valid() {
        super::Cli::command().debug_assert();
    }
}
