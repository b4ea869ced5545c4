//! Explains why a delivery fails and what to do about it.

mod status;
mod tls;

use crate::model::{Attempt, Provider};

/// Returns the most likely reason for a failed attempt and the next step, or `None` if the receiver confirmed it or
/// if nothing can be added to the recorded cause. The hint is chosen by the HTTP status or, without a response, by
/// the dispatcher's message.
pub fn hint(attempt: &Attempt, provider: &Provider) -> Option<String> {
    match (attempt.status, attempt.cause.as_deref()) {
        (Some(200), None) => None,
        (Some(status), _) => status::hint(status, provider),
        (None, _) if provider.callback_origin.is_none() => Some(unaddressed(provider)),
        (None, Some(cause)) => unanswered(cause, provider),
        (None, None) => None,
    }
}

/// Returns what to do if a provider's events have no callback URL.
pub(crate) fn unaddressed(provider: &Provider) -> String {
    format!(
        "The provider has no callback URL. Set one with `{}`; then replay what is kept with `guerdon event replay \
         --provider {} --state unaddressed`.",
        set_url(provider),
        provider.id,
    )
}

/// Returns the command that registers another URL.
fn set_url(provider: &Provider) -> String {
    format!("guerdon provider set {} --callback-url URL", provider.id)
}

fn unanswered(cause: &str, provider: &Provider) -> Option<String> {
    if let Some(fault) = cause.strip_prefix("TLS: ") {
        return Some(tls::hint(fault));
    }
    if cause.starts_with("callback_url") || cause.contains("not a public address") {
        return Some(refused(cause, provider));
    }
    let text = match cause {
        "there is no callback URL" => return Some(unaddressed(provider)),
        "no answer in time" => {
            "An attempt has 15 seconds in all. Let the receiver store the event, answer 200 at once, and do the work \
             afterwards."
        }
        "no connection in time" => {
            "Nothing answers at that address and port: a firewall drops the connection, or the host is down. Let its \
             owner admit this service's address."
        }
        "no connection" => "Nothing answers at any address of that host. Ask its owner whether it is up.",
        "connection refused" => {
            "The host is there, but nothing listens on that port: the receiver is down, or the port in the callback URL is \
             another."
        }
        "connection reset" | "connection closed without an answer" => {
            "Something took the connection and dropped it: a receiver that crashes on the event, a proxy that waits for \
             less time than the receiver needs, or one that expects TLS or does not."
        }
        "the host name is unknown" => {
            "The callback URL's host has no address in DNS: a misspelt name, or a record that was removed. Ask the \
             provider for the URL to the letter."
        }
        "the host name was not resolved in time" => {
            "The name server did not answer. If many providers fail this way, look at this machine's resolver; if it is \
             one alone, at the provider's name servers."
        }
        "the answer is not HTTP" => {
            "Something else than an HTTP server answers on that port. Check scheme and port of the callback URL."
        }
        "the head of the answer is too long" | "more was received than an answer may hold" => {
            "The receiver answers far more than anybody reads. An empty answer with status 200 is all that is needed."
        }
        "the shared secret cannot be opened with this master key" => return Some(sealed(provider)),
        "a fault of the service" => {
            "The provider has no part in this. Look into the log of `serve` at that time, under the event's id."
        }
        _ => return elsewhere(cause),
    };
    Some(text.to_owned())
}

fn refused(cause: &str, provider: &Provider) -> String {
    let advice = if cause.contains("public address") {
        "Events go to public addresses only. If the receiver stands in a network of your own, and you trust every \
         provider with it, set `webhooks.allow_private_networks = true`"
    } else if cause.contains("https") {
        "Events go to https only. For a trial, set `webhooks.allow_http = true`"
    } else {
        "The callback URL cannot be called as it is"
    };
    format!("{advice}; otherwise ask the provider for another URL and set it with `{}`.", set_url(provider))
}

fn sealed(provider: &Provider) -> String {
    format!(
        "The secret in the database was sealed under another master key, as after a restore with the wrong key. Bring back \
         the right one, or make a new secret with `guerdon provider rotate {} --shared-secret` and hand it over.",
        provider.id
    )
}

/// Recognizes causes by the operating system's messages.
fn elsewhere(cause: &str) -> Option<String> {
    let is_route = ["host unreachable", "network unreachable", "network down"].contains(&cause);
    is_route.then(|| {
        "There is no way from this machine to that address. Look at its routes and firewall, and whether the receiver's \
         name leads to an IPv6 address that this network cannot reach."
            .to_owned()
    })
}

#[cfg(test)]
mod tests;
