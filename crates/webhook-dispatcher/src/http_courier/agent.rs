//! Configures ureq: no redirects, no proxy, limits on time and size.

use std::sync::Arc;

use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::transport::{Connector, RustlsConnector};

use super::options::{HttpCourierParts, SetupError, TrustedRoots};
use crate::guard::{GuardedTcp, Names, VettingResolver};

/// A provider has at most eight attempts under way, so more connections would never be used.
const KEPT_PER_HOST: usize = 8;
const KEPT_PER_POOL: usize = 32;
/// Fits a request with its body, unless the message is very long.
const OUTPUT_BYTES: usize = 8 * 1024;

/// Creates a client with its connection pool.
pub(super) fn agent(parts: &HttpCourierParts, roots: RootCerts, names: Arc<Names>) -> Agent {
    let (limits, policy) = (&parts.limits, parts.policy);
    let config = Agent::config_builder()
        .https_only(!policy.allow_http)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .user_agent("")
        .accept("")
        .accept_encoding("identity")
        .timeout_global(Some(limits.attempt_max))
        .timeout_resolve(Some(limits.resolve_max))
        .timeout_connect(Some(limits.connect_max))
        .timeout_send_request(Some(limits.attempt_max))
        .timeout_send_body(Some(limits.attempt_max))
        .timeout_recv_response(Some(limits.attempt_max))
        .timeout_recv_body(Some(limits.body_max))
        .max_response_header_size(limits.head_bytes_max)
        // ureq needs a larger buffer than the longest head: otherwise it reports a longer head as a closed
        // connection.
        .input_buffer_size(limits.head_bytes_max.saturating_add(1024))
        .output_buffer_size(OUTPUT_BYTES)
        .max_idle_connections(KEPT_PER_POOL)
        .max_idle_connections_per_host(KEPT_PER_HOST)
        .max_idle_age(limits.keep_alive_max)
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .build();
    let tcp = GuardedTcp::new(policy.allow_private_networks);
    let resolver = VettingResolver { names, allow_private_networks: policy.allow_private_networks };
    Agent::with_parts(config, ().chain(tcp).chain(RustlsConnector::default()), resolver)
}

pub(super) fn roots(trusted: &TrustedRoots) -> Result<RootCerts, SetupError> {
    let (pem, mut certificates) = match trusted {
        TrustedRoots::Public => return Ok(RootCerts::WebPki),
        TrustedRoots::Only(pem) => (pem, Vec::new()),
        TrustedRoots::And(pem) => {
            let public = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
            (pem, public.map(|anchor| Certificate::from_der(anchor.as_ref()).to_owned()).collect())
        }
    };
    let public = certificates.len();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|_pem| SetupError::Roots)? {
            certificates.push(certificate);
        }
    }
    if certificates.len() == public {
        return Err(SetupError::Roots);
    }
    Ok(RootCerts::new_with_certs(&certificates))
}
