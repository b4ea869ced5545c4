//! Explains why a delivery fails and what to do about it.

mod status;
mod tls;

use crate::model::{Attempt, Provider};

/// Returns the most likely reason for a failed attempt and the next step, or `None` if the receiver confirmed it or
/// if nothing can be added to the recorded cause. The explanation is chosen by the HTTP status or, without a response,
/// by the dispatcher's message.
pub fn diagnose_attempt(attempt: &Attempt, provider: &Provider) -> Option<String> {
    match (attempt.result.status, attempt.result.cause.as_deref()) {
        (Some(200), None) => None,
        (Some(status), _) => status::diagnose_status(status, provider),
        (None, _) if provider.callback_origin.is_none() => Some(explain_missing_url(provider)),
        (None, Some(cause)) => explain_no_response(cause, provider),
        (None, None) => None,
    }
}

/// Returns what to do if a provider's events have no callback URL.
pub(crate) fn explain_missing_url(provider: &Provider) -> String {
    format!(
        "The provider has no callback URL. Set one with `{}`; then replay the stored events with `guerdon event replay \
         --provider {} --state unaddressed`.",
        set_url_command(provider),
        provider.id,
    )
}

/// Returns the command that registers another URL.
fn set_url_command(provider: &Provider) -> String {
    format!("guerdon provider set {} --callback-url URL", provider.id)
}

fn explain_no_response(cause: &str, provider: &Provider) -> Option<String> {
    if let Some(fault) = cause.strip_prefix("TLS: ") {
        return Some(tls::diagnose_tls(fault));
    }
    if cause.starts_with("callback_url") || cause.contains("not public") {
        return Some(explain_refused_url(cause, provider));
    }
    let text = match cause {
        "there is no callback URL" => return Some(explain_missing_url(provider)),
        "no response in time" => {
            "An attempt times out after 15 seconds. The receiver should store the event, return 200 immediately, and process it afterwards."
        }
        "no connection in time" => {
            "No response from that address and port: a firewall drops the connection, or the host is down. Ask the provider to allow this service's address."
        }
        "no connection" => {
            "No address of that host accepts connections. Ask the provider whether the receiver is running."
        }
        "connection refused" => {
            "The host responds, but nothing listens on that port: the receiver is down, or the port in the callback URL is wrong."
        }
        "connection reset" | "connection closed without a response" => {
            "The connection was accepted and then closed: the receiver crashes on the event, a proxy times out before the receiver responds, or one side expects TLS and the other does not."
        }
        "the host name is unknown" => {
            "The host of the callback URL has no address in DNS: the name is misspelled, or its record was removed. Ask the provider for the exact URL."
        }
        "the host name was not resolved in time" => {
            "The name server did not respond. If many providers fail this way, check this machine's resolver; if only one does, its name servers."
        }
        "the response is not HTTP" => {
            "The server on that port does not speak HTTP. Check the scheme and port of the callback URL."
        }
        "the response headers are too long" | "the response is too large" => {
            "The response exceeds the size limit. An empty response with status 200 is enough."
        }
        "the shared secret cannot be decrypted with this master key" => {
            return Some(explain_sealed_secret(provider));
        }
        "an error in this service" => {
            "The provider did not cause this. Search the log of `serve` at that time for the event's id."
        }
        _ => return explain_network_error(cause),
    };
    Some(text.to_owned())
}

fn explain_refused_url(cause: &str, provider: &Provider) -> String {
    let advice = if cause.contains("public") {
        "Events are sent only to public addresses. If the receiver is on your own network, and you trust every provider \
         with access to it, set `webhooks.allow_private_networks = true`"
    } else if cause.contains("https") {
        "Events are sent only over https. For a trial, set `webhooks.allow_http = true`"
    } else {
        "The callback URL cannot be used"
    };
    format!(
        "{advice}; otherwise ask the provider for another URL and set it with `{}`.",
        set_url_command(provider)
    )
}

fn explain_sealed_secret(provider: &Provider) -> String {
    format!(
        "The secret in the database was encrypted with another master key, for example because a backup was restored with the wrong key. Configure the right key, or create a new secret with `guerdon provider rotate {} --shared-secret` and give it to the provider.",
        provider.id
    )
}

/// Recognizes causes by the operating system's messages.
fn explain_network_error(cause: &str) -> Option<String> {
    let is_route = ["host unreachable", "network unreachable", "network down"].contains(&cause);
    is_route.then(|| {
        "This machine has no route to that address. Check its routes and firewall, and whether the receiver's name resolves to an IPv6 address that this network cannot reach."
            .to_owned()
    })
}

#[cfg(test)]
mod tests;
