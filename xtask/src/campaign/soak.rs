//! Runs the service at 60 % of its peak load for a long time.

use anyhow::{Result, bail};

use super::context::Setup;
use super::report::Report;

pub(super) fn run(_setup: &Setup<'_>) -> Result<Report> {
    bail!("not implemented yet")
}
