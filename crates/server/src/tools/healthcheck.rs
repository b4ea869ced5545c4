//! `guerdon healthcheck`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use ureq::Agent;

use crate::commands::{Output, View};
use crate::settings::Settings;

/// Whoever looks after a container waits no longer.
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

/// Asks the operator's listener.
pub(super) fn run(settings: &Settings) -> Result<Output> {
    let url = format!("http://{}/readyz", from_here(settings.operator_listen));
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(WITHIN))
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into();
    let mut answer = agent.get(&url).call().with_context(|| format!("nothing answers at {url}"))?;
    if answer.status() != 200 {
        bail!("not ready: {}", answer.body_mut().read_to_string().unwrap_or_default().trim());
    }
    Ok(Ready { ready: true }.output()?)
}

/// Where a listener of all addresses is reached on its own machine.
fn from_here(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
