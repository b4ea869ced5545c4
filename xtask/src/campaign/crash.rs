//! Kills the service with SIGKILL at random times under load.

use anyhow::{Result, bail};

use super::context::Setup;
use super::report::Report;

pub(super) fn run(_setup: &Setup<'_>) -> Result<Report> {
    bail!("not implemented yet")
}
