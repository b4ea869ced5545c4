//! Damaged input.

pub(super) mod http;

use anyhow::Result;

use super::attack::Attack;
use super::context::Setup;
use super::report::Report;

/// Sends randomly damaged requests to a running service.
pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    Attack::DamagedRequests.run(setup)
}
