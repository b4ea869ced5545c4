//! `guerdon healthcheck`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use ureq::Agent;

use crate::commands::{Output, View};
use crate::settings::Settings;

/// How long the health check of a container may take.
const WITHIN: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct Ready {
    ready: bool,
}

impl View for Ready {
    fn text(&self) -> String {
        "ready".to_owned()
    }
}

/// Asks the operator's listener whether the service accepts requests.
pub(super) fn run(settings: &Settings) -> Result<Output> {
    let (_, status, body) = request_operator(settings, "/readyz")?;
    if status != 200 {
        bail!("not ready: {}", body.trim());
    }
    Ok(Ready { ready: true }.output()?)
}

/// Requests a path from the operator's listener. Returns the URL, the status and the body.
pub(super) fn request_operator(settings: &Settings, path: &str) -> Result<(String, u16, String)> {
    let url = format!("http://{}{path}", from_here(settings.operator_listen));
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(WITHIN))
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into();
    let mut answer = agent.get(&url).call().with_context(|| format!("no response from {url}"))?;
    let body = answer.body_mut().read_to_string().unwrap_or_default();
    Ok((url, answer.status().as_u16(), body))
}

/// Replaces the unspecified address, on which a listener takes all connections, by loopback.
fn from_here(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
