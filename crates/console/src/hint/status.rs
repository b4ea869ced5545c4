//! Hints for statuses other than 200.

use super::set_url;
use crate::model::Provider;

pub(super) fn hint(status: u16, provider: &Provider) -> Option<String> {
    let text = match status {
        200 => return None,
        201..=299 => {
            return Some(format!(
                "Only status 200 confirms an event; {status} does not. The receiver most likely has the event and gets it \
                 again and again: let it answer 200."
            ));
        }
        300..=399 => {
            return Some(format!(
                "Redirects are not followed. Ask the provider for the address that it redirects to, and set it with `{}`.",
                set_url(provider)
            ));
        }
        401 | 403 => {
            "The receiver, or a wall before it, does not accept the request. Events bear a signature and no other \
             credentials. If the receiver checks that, it may hold another secret or another URL: let its owner keep \
             headers and body of an attempt and ask `guerdon webhook verify --url URL --shared-secret SECRET --headers FILE \
             --body FILE`, which names the part that is wrong."
        }
        404 | 405 | 410 => {
            return Some(format!(
                "Nothing takes events at that path: {}. Compare the callback URL with the receiver's route, letter by \
                 letter; another one is set with `{}`.",
                match status {
                    404 => "the path is unknown",
                    405 => "it exists, but not for POST",
                    _ => "it was taken away",
                },
                set_url(provider)
            ));
        }
        408 => "The receiver, or a proxy before it, gave up waiting for the event. Look at its time limits.",
        400 | 406 | 415 | 422 => {
            "The receiver does not accept the event as it is. It is JSON in UTF-8, and may be of a type or hold a field \
             that the receiver does not know: let it answer 200 to those too."
        }
        413 => {
            "The receiver, or a proxy before it, takes no body of that size. Let it take 64 KiB (in nginx \
             `client_max_body_size`)."
        }
        429 => {
            "The receiver limits how often it is called. At most eight events are on their way to a provider at a time: \
             let it admit as many, and do its work after its answer."
        }
        502..=504 => {
            "A proxy answered in place of the receiver, which is down, overloaded or too slow. Its log, and that of the \
             proxy, tell which."
        }
        500..=599 => "The receiver failed at the event. Its log at that time tells why.",
        _ => return None,
    };
    Some(text.to_owned())
}
