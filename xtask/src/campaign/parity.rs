//! Sends generated requests to both databases, which must give the same responses.

use anyhow::{Result, bail};

use super::context::Setup;
use super::report::Report;

pub(super) fn run(_setup: &Setup<'_>) -> Result<Report> {
    bail!("not implemented yet")
}
