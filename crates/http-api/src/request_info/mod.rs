//! Facts about a request that are determined once: its id, whether it came over HTTPS, the client's address, and, after
//! authentication, the provider.

mod body_failure;
mod client;
mod client_end;
mod headers;

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::dev::ServiceRequest;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::{HttpMessage, HttpRequest};
pub(crate) use body_failure::{BodyFailure, BodyFault};
#[cfg(feature = "testing")]
pub(crate) use client::forwarded_address;
pub(crate) use client::{is_trusted_proxy, limit_address};
pub(crate) use client_end::ClientEnd;
use guerdon_domain::ports::IdGenerator;
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{ProviderId, Timestamp};
pub(crate) use headers::{RepeatedHeader, single_header};

use crate::api::Transport;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_LENGTH_MAX: usize = 128;

/// How long a provider counts as unchanged after it was read. A revoked secret or designation therefore stops working
/// within a second.
pub(crate) const PROVIDER_TTL: Duration = Duration::from_millis(500);

/// Facts about a request before authentication.
#[derive(Clone)]
pub(crate) struct RequestInfo {
    /// The id in the log and in the response.
    pub(crate) id: Rc<str>,
    /// Whether the request came over HTTPS.
    pub(crate) is_https: bool,
    /// The client's address for limits by address; `None` if the connection has no address.
    pub(crate) address: Option<IpAddr>,
}

impl RequestInfo {
    /// Determines the facts and attaches them to the request.
    pub(crate) fn attach_to(request: &ServiceRequest, transport: &Transport, ids: &dyn IdGenerator) -> Self {
        let info = Self {
            id: request_id(request.headers(), ids).into(),
            is_https: client::is_https(transport, request),
            address: client::client_address(transport, request),
        };
        request.request().extensions_mut().insert(info.clone());
        info
    }

    /// The facts attached to a request. A request that did not pass the envelope has an empty id, no address, and
    /// counts as plain HTTP.
    pub(crate) fn from_request(request: &HttpRequest) -> Self {
        let attached = request.extensions().get::<Self>().cloned();
        attached.unwrap_or_else(|| Self { id: "".into(), is_https: false, address: None })
    }
}

/// Marks a request whose client waits for permission to send the body (`Expect: 100-continue`).
pub(crate) struct AwaitsContinue;

/// How long a request waited for new events. The duration in logs, metrics and statistics does not include it.
pub(crate) struct TimeWaited(pub(crate) Duration);

/// The authenticated provider. Only the admission middleware attaches it to a request.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) id: ProviderId,
    /// Whether the provider may create and update companies and corporations and create users. Valid only while
    /// [`Caller::is_current`].
    pub(crate) is_designated: bool,
    /// A time before the provider was read.
    read_at: Instant,
    /// The hash that the secret of the request matched.
    secret_hash: Arc<[u8]>,
}

impl Caller {
    /// The caller whose secret matches `secret_hash`, one of the hashes of `provider`. `read_at` is a time before the
    /// provider was read.
    pub(crate) fn new(provider: &Provider, secret_hash: &[u8], read_at: Instant) -> Self {
        Self {
            id: provider.id,
            is_designated: provider.manages_all_domain_resources,
            read_at,
            secret_hash: secret_hash.into(),
        }
    }

    /// Whether the provider counts as unchanged since it was read.
    pub(crate) fn is_current(&self) -> bool {
        self.read_at.elapsed() < PROVIDER_TTL
    }

    /// Whether a later state of the provider still accepts the secret of the request at `now`.
    pub(crate) fn is_accepted_by(&self, provider: &Provider, now: Timestamp) -> bool {
        !provider.suspended && provider.api_secret_hashes(now).any(|hash| *hash == *self.secret_hash)
    }
}

/// A provider with the API key `key` and the secret hash 1.
#[cfg(test)]
pub(crate) fn example_provider() -> Provider {
    Provider {
        id: ProviderId::from_uuid(uuid::Uuid::nil()),
        name: String::new(),
        api_key: "key".to_owned(),
        api_secret_hash: vec![1],
        encrypted_shared_secret: Vec::new(),
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: None,
        manages_all_domain_resources: false,
        suspended: false,
        created_at: Timestamp::UNIX_EPOCH,
    }
}

/// The first segment of a path; empty if the path has none.
pub(crate) fn first_segment(path: &str) -> &str {
    path.strip_prefix('/').and_then(|rest| rest.split('/').next()).unwrap_or_default()
}

fn request_id(headers: &HeaderMap, ids: &dyn IdGenerator) -> String {
    let sent = single_header(headers, REQUEST_ID.as_str()).ok().flatten();
    match sent.and_then(|bytes| std::str::from_utf8(bytes).ok()).filter(|id| is_valid_id(id)) {
        Some(sent) => sent.to_owned(),
        None => ids.next_id().to_string(),
    }
}

fn is_valid_id(id: &str) -> bool {
    (1..=REQUEST_ID_LENGTH_MAX).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use uuid::Uuid;

    use super::*;

    struct NilIds;

    impl IdGenerator for NilIds {
        fn next_id(&self) -> Uuid {
            Uuid::nil()
        }
    }

    #[test]
    fn a_caller_is_accepted_while_its_provider_has_its_secret_and_is_not_suspended() {
        let (now, read_at) = (Timestamp::UNIX_EPOCH, Instant::now());
        let provider = example_provider();
        let caller = Caller::new(&provider, &[1], read_at);
        assert!(caller.is_accepted_by(&provider, now));
        let renewed = Provider { api_secret_hash: vec![2], ..provider.clone() };
        assert!(!caller.is_accepted_by(&renewed, now));
        assert!(!caller.is_accepted_by(&Provider { suspended: true, ..provider.clone() }, now));
        let earlier = read_at.checked_sub(PROVIDER_TTL).unwrap();
        assert!(!Caller::new(&provider, &[1], earlier).is_current());
        let later = read_at + Duration::from_secs(3_600); // so that this test may be slow
        assert!(Caller::new(&provider, &[1], later).is_current());
    }

    #[test]
    fn a_sane_request_id_is_kept_and_any_other_replaced() {
        let new = Uuid::nil().to_string();
        let check = |sent: &[&str], expected: &str| {
            let mut headers = HeaderMap::new();
            for id in sent {
                headers.append(REQUEST_ID, HeaderValue::from_str(id).unwrap());
            }
            assert_eq!(request_id(&headers, &NilIds), expected, "{sent:?}");
        };
        check(&["a-B_9.z"], "a-B_9.z");
        check(&[&"x".repeat(128)], &"x".repeat(128));
        check(&[&"x".repeat(129)], &new);
        check(&[], &new);
        check(&[""], &new);
        check(&["a b"], &new);
        check(&["a;b"], &new);
        check(&["a", "b"], &new);
    }
}
