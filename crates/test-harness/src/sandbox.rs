//! A running sandbox, `guerdon dev`.

use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process_guard::{ProcessGuard, StopSignal, forward_lines};
use crate::service::guerdon_command;

/// How long to wait for the next line of output.
const LINE_TIMEOUT: Duration = Duration::from_secs(60);
/// A part of the line that the sandbox prints when it is ready.
const READY: &str = "Ctrl-C here stops the sandbox.";

/// A running sandbox and its output lines. It is interrupted when it is dropped, and then removes its folder.
pub struct Sandbox {
    pub process: ProcessGuard,
    lines: Receiver<String>,
}

impl Sandbox {
    pub fn start(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Result<Self> {
        let mut command = guerdon_command(program);
        command.arg("dev").args(arguments).envs(variables.iter().copied()).stdout(Stdio::piped());
        let mut process = ProcessGuard::start(command, StopSignal::Interrupt, None)?;
        let lines = forward_lines(process.process().stdout.take().context("no output")?);
        Ok(Self { process, lines })
    }

    /// Returns all lines up to the first line that contains `part`.
    pub fn read_lines_until(&self, part: &str) -> Result<Vec<String>> {
        let mut lines: Vec<String> = Vec::new();
        while !lines.last().is_some_and(|line| line.contains(part)) {
            match self.lines.recv_timeout(LINE_TIMEOUT) {
                Ok(line) => lines.push(line),
                Err(error) => bail!("guerdon dev did not print `{part}` ({error}): {lines:#?}"),
            }
        }
        Ok(lines)
    }

    /// Waits until the sandbox is ready. Returns all lines so far.
    pub fn wait_until_ready(&self) -> Result<Vec<String>> {
        self.read_lines_until(READY)
    }
}

/// Parses lines of the form `export NAME='value'`.
pub fn parse_exports(lines: &[String]) -> Vec<(String, String)> {
    let exports = lines.iter().filter_map(|line| {
        let (name, value) = line.strip_prefix("export ")?.split_once("='")?;
        Some((name.to_owned(), value.strip_suffix('\'')?.to_owned()))
    });
    exports.collect()
}

#[cfg(test)]
mod tests {
    use super::parse_exports;

    #[test]
    fn exports_are_parsed_and_other_lines_skipped() {
        let lines =
            ["Paste these lines:", "export URL='https://localhost:1/v1'", "export PATH='/bin':\"$PATH\""];
        let expected = [("URL".to_owned(), "https://localhost:1/v1".to_owned())];
        assert_eq!(parse_exports(&lines.map(str::to_owned)), expected);
    }
}
