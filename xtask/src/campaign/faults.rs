//! Failures of PostgreSQL and of the network, full disks, I/O errors and clock jumps under load.

use anyhow::{Result, bail};

use super::context::Setup;
use super::report::Report;

pub(super) fn run(_setup: &Setup<'_>) -> Result<Report> {
    bail!("not implemented yet")
}
