//! Deliveries as receivers read them, and the URLs that they are sent to.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use guerdon_webhook_dispatcher::{EgressPolicy, check_callback_url, is_public};
use guerdon_webhooks::{Delivery, Event, VerifyError, diagnose, sign, verify_within};
use url::{Host, Url};

use crate::with_text;

/// The input is the URL, timestamp, nonce, secret, wrong signature and body, separated by U+0000.
pub(crate) fn check_signature(input: &[u8]) {
    with_text(input, |text| {
        let mut parts = text.splitn(6, '\0');
        let mut next = || parts.next().unwrap_or_default();
        let (url, timestamp, nonce, secret, wrong) = (next(), next(), next(), next(), next());
        let body = next().as_bytes();
        let signature = sign(secret, url, timestamp, nonce, body);
        let delivery = Delivery { url, timestamp, nonce, signature: &signature, body };
        let verify =
            |delivery: &Delivery<'_>| verify_within(secret, delivery, SystemTime::UNIX_EPOCH, Duration::MAX);
        let is_malformed =
            |result| matches!(result, Err(VerifyError::MalformedTimestamp | VerifyError::MalformedNonce));
        let signed = verify(&delivery);
        if secret.is_empty() {
            assert!(signed.is_err(), "an empty secret is accepted");
        } else {
            assert!(signed.is_ok() || is_malformed(signed), "{signed:?}");
        }
        let longer = [body, b"x"].concat();
        let changed = [
            Delivery { body: &longer, ..delivery },
            Delivery { signature: if wrong == signature { "" } else { wrong }, ..delivery },
        ];
        for changed in changed {
            assert!(verify(&changed).is_err(), "a changed delivery is verified");
            drop(diagnose(secret, &changed, Some(body.len()), SystemTime::UNIX_EPOCH));
        }
    });
}

pub(crate) fn check_event(input: &[u8]) {
    let Ok(event) = Event::parse(input) else { return };
    let shown = event.json.to_string();
    assert!(Event::parse(shown.as_bytes()).is_ok_and(|again| again == event), "{shown}");
}

/// A policy accepts no URL that a less strict policy refuses. A policy without private networks accepts an address as
/// the host only if the address is public.
pub(crate) fn check_callback(input: &[u8]) {
    with_text(input, |text| {
        let is_accepted = |allow_http, allow_private_networks| {
            check_callback_url(text, EgressPolicy { allow_http, allow_private_networks }).is_ok()
        };
        assert!(!is_accepted(false, false) || (is_accepted(true, false) && is_accepted(false, true)));
        assert!(!is_accepted(true, false) || is_accepted(true, true));
        assert!(
            !is_accepted(false, false)
                || text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
        );
        let host = Url::parse(text).ok().and_then(|url| url.host().map(|host| host.to_owned()));
        let address = match host {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) | None => None,
        };
        assert!(address.is_none_or(|address| !is_accepted(true, false) || is_public(address)), "{address:?}");
        if let Ok(address) = text.parse::<IpAddr>() {
            assert_eq!(is_public(address), is_public(address.to_canonical()));
        }
    });
}
