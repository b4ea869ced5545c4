//! Explains statuses other than 200.

use super::set_url_command;
use crate::model::Provider;

pub(super) fn diagnose_status(status: u16, provider: &Provider) -> Option<String> {
    let text = match status {
        200 => return None,
        201..=299 => {
            return Some(format!(
                "Only status 200 confirms an event; {status} does not. The receiver probably processed the event and receives it again with each retry. It must return 200."
            ));
        }
        300..=399 => {
            return Some(format!(
                "Redirects are not followed. Ask the provider for the address that it redirects to, and set it with `{}`.",
                set_url_command(provider)
            ));
        }
        401 | 403 => {
            "The receiver, or a firewall in front of it, rejects the request. Events carry a signature and no other credentials. If the receiver verifies the signature, it may use another secret or URL. Ask the provider to save the headers and body of an attempt and to run `guerdon webhook verify --url URL --shared-secret SECRET --headers FILE \
             --body FILE`, which names the part that is wrong."
        }
        404 | 405 | 410 => {
            return Some(format!(
                "The receiver does not accept events at that path: {}. Compare the callback URL with the receiver's route; change it with `{}`.",
                match status {
                    404 => "the path does not exist",
                    405 => "it does not accept POST",
                    _ => "it was removed",
                },
                set_url_command(provider)
            ));
        }
        408 => {
            "The receiver, or a proxy in front of it, timed out while it waited for the event. Check its timeouts."
        }
        400 | 406 | 415 | 422 => {
            "The receiver rejects the event. It is JSON in UTF-8, and may have a type or a field that the receiver does not know: it must return 200 for those too."
        }
        413 => {
            "The receiver, or a proxy in front of it, rejects a body of that size. It must accept 64 KiB (in nginx, `client_max_body_size`)."
        }
        429 => {
            "The receiver limits the request rate. At most eight requests are sent at a time: it should accept that many, and process the events after it has responded."
        }
        502..=504 => {
            "The receiver, or a proxy in front of it, is unavailable, overloaded or too slow. The logs of both may say why."
        }
        500..=599 => "The receiver failed while it processed the event. See its log at that time.",
        _ => return None,
    };
    Some(text.to_owned())
}
