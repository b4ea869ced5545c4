//! `guerdon healthcheck`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use ureq::Agent;

use crate::commands::{CommandOutput, CommandView};
use crate::settings::Settings;

/// The time limit of a request. Container health checks should not take longer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct Readiness {
    ready: bool,
}

impl CommandView for Readiness {
    fn to_text(&self) -> String {
        "ready".to_owned()
    }
}

/// Checks on the operator's listener whether the service accepts requests.
pub(super) fn check_readiness(settings: &Settings) -> Result<CommandOutput> {
    let (_, status, body) = request_operator(settings, "/readyz")?;
    if status != 200 {
        bail!("not ready: {}", body.trim());
    }
    Ok(Readiness { ready: true }.to_output()?)
}

/// Requests a path from the operator's listener. Returns the URL, the status and the body.
pub(super) fn request_operator(settings: &Settings, path: &str) -> Result<(String, u16, String)> {
    let url = format!("http://{}{path}", reachable_address(settings.operator_listen));
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(REQUEST_TIMEOUT))
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into();
    let mut response = agent.get(&url).call().with_context(|| format!("no response from {url}"))?;
    let body = response.body_mut().read_to_string().unwrap_or_default();
    Ok((url, response.status().as_u16(), body))
}

/// Replaces the unspecified address, which listens on all interfaces, with the loopback address.
fn reachable_address(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
