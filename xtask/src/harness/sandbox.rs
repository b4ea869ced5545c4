//! A running sandbox, `guerdon dev`, for clients.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::process_guard::{ProcessGuard, StopSignal};
use crate::workspace::guerdon_command;

const START_LIMIT: Duration = Duration::from_secs(60);

/// A running sandbox.
pub(crate) struct Sandbox {
    variables: Vec<(String, String)>,
    _server: ProcessGuard,
}

impl Sandbox {
    /// Starts the sandbox, and waits until it has printed its variables.
    pub(crate) fn start(program: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("guerdon-sandbox-").tempdir()?.keep();
        let output = folder.join("output.txt");
        let mut command = guerdon_command(program);
        command.arg("dev").stdout(File::create(&output)?);
        let mut server = ProcessGuard::start(command, StopSignal::Interrupt, &folder)?;
        let read_output = || fs::read_to_string(&output).unwrap_or_default();
        server
            .wait_until(START_LIMIT, || read_output().contains("\nexport PATH="))
            .context("starting guerdon dev")?;
        let mut variables = parse_exports(&read_output());
        let certificate =
            variables.iter().find(|(name, _)| name == "CERTIFICATE").map(|(_, file)| file.clone());
        variables.push((
            "NODE_EXTRA_CA_CERTS".to_owned(),
            certificate.context("guerdon dev printed no CERTIFICATE")?,
        ));
        Ok(Self { variables, _server: server })
    }

    /// The variables that the sandbox printed, and the one from which Node takes its certificate.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Parses lines of the form `export NAME='value'`.
fn parse_exports(output: &str) -> Vec<(String, String)> {
    let exports = output.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix("export ")?.split_once("='")?;
        Some((name.to_owned(), value.strip_suffix('\'')?.to_owned()))
    });
    exports.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_parsed_and_other_lines_skipped() {
        let output =
            "Paste these lines:\n\nexport URL='https://localhost:1/v1'\nexport PATH='/bin':\"$PATH\"\n";
        assert_eq!(parse_exports(output), [("URL".to_owned(), "https://localhost:1/v1".to_owned())]);
    }
}
