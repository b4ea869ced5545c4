//! Configures ureq: no redirects, no proxy, limits on time and size.

use std::sync::Arc;

use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::transport::{Connector, RustlsConnector};

use super::options::{HttpSenderError, HttpSenderParts, TrustedRoots};
use crate::egress_policy::{DnsCache, EgressConnector, EgressResolver};

/// Enough for one provider, which has at most eight attempts in progress. Providers that share a host share these
/// connections.
const IDLE_PER_HOST_MAX: usize = 8;
const IDLE_PER_POOL_MAX: usize = 32;
/// The size of the output buffer. A request with its body fits, unless the message in the body is very long.
const OUTPUT_BYTES: usize = 8 * 1024;

/// Creates a client with its connection pool.
pub(super) fn build_agent(parts: &HttpSenderParts, roots: RootCerts, names: Arc<DnsCache>) -> Agent {
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
        .timeout_global(Some(limits.attempt_timeout))
        .timeout_resolve(Some(limits.resolve_timeout))
        .timeout_connect(Some(limits.connect_timeout))
        .timeout_send_request(Some(limits.attempt_timeout))
        .timeout_send_body(Some(limits.attempt_timeout))
        .timeout_recv_response(Some(limits.attempt_timeout))
        .timeout_recv_body(Some(limits.body_timeout))
        .max_response_header_size(limits.head_bytes_max)
        // The buffer must be larger than the maximum size of a head. Otherwise ureq reports a longer head as a closed
        // connection.
        .input_buffer_size(limits.head_bytes_max.saturating_add(1024))
        .output_buffer_size(OUTPUT_BYTES)
        .max_idle_connections(IDLE_PER_POOL_MAX)
        .max_idle_connections_per_host(IDLE_PER_HOST_MAX)
        .max_idle_age(limits.idle_connection_timeout)
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .build();
    let tcp = EgressConnector::new(policy.allow_private_networks);
    let resolver = EgressResolver { dns_cache: names, allow_private_networks: policy.allow_private_networks };
    Agent::with_parts(config, ().chain(tcp).chain(RustlsConnector::default()), resolver)
}

pub(super) fn load_root_certs(trusted: &TrustedRoots) -> Result<RootCerts, HttpSenderError> {
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
        if let PemItem::Certificate(certificate) = item.map_err(|_pem| HttpSenderError::Roots)? {
            certificates.push(certificate);
        }
    }
    if certificates.len() == public {
        return Err(HttpSenderError::Roots);
    }
    Ok(RootCerts::new_with_certs(&certificates))
}
