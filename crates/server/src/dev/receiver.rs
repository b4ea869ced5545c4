//! The receiver of the sandbox's events: verifies each event, responds, and prints the outcome.

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver as Arrivals, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use actix_web::rt::System;
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use anyhow::Result;
use guerdon_console::numbers;
use guerdon_domain::ports::Clock as _;
use guerdon_webhook_dispatcher::RetrySchedule;
use guerdon_webhooks::{Delivery, verify};
use serde_json::Value;

use super::style::{failure_line, success_line};
use crate::platform::SystemClock;
use crate::terminal::print_line;

const CALLBACK_PATH: &str = "/hook";
/// Events whose message begins with this text are refused, to show the retries.
pub(super) const REFUSED_PREFIX: &str = "fail";

/// The running receiver.
#[derive(Clone)]
pub(super) struct SandboxReceiver(Arc<ReceiverState>);

struct ReceiverState {
    url: String,
    /// The retry schedule in this sandbox.
    schedule: RetrySchedule,
    /// The shared secret; unset until the provider is created.
    secret: OnceLock<String>,
    /// The number of refusals per event.
    refused: Mutex<HashMap<String, u32>>,
    /// The channel to which the ids of verified events are sent.
    verified: Mutex<Option<Sender<String>>>,
}

impl SandboxReceiver {
    /// Starts to listen on a free loopback port.
    pub(super) fn start(schedule: RetrySchedule) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let url = format!("http://{}{CALLBACK_PATH}", listener.local_addr()?);
        let (refused, verified) = (Mutex::default(), Mutex::default());
        let receiver =
            Self(Arc::new(ReceiverState { url, schedule, secret: OnceLock::new(), refused, verified }));
        let shared = Data::new(receiver.clone());
        let server = move || {
            let app = App::new().app_data(Data::clone(&shared));
            app.default_service(web::to(receive_event))
        };
        std::thread::spawn(move || {
            System::new().block_on(async {
                HttpServer::new(server).workers(1).disable_signals().listen(listener)?.run().await
            })
        });
        Ok(receiver)
    }

    /// The callback URL.
    pub(super) fn url(&self) -> &str {
        &self.0.url
    }

    /// Sets the shared secret that signs the events.
    pub(super) fn set_secret(&self, secret: &str) {
        let _known = self.0.secret.set(secret.to_owned());
    }

    /// Returns a channel with the ids of the events that are verified from now on.
    pub(super) fn subscribe_verified(&self) -> Arrivals<String> {
        let (sender, arrivals) = mpsc::channel();
        *self.0.verified.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        arrivals
    }

    fn verify_and_respond(&self, request: &HttpRequest, body: &[u8]) -> HttpResponse {
        let header = |name: &str| {
            request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
        };
        let delivery = Delivery {
            url: &self.0.url,
            timestamp: header("x-service-timestamp"),
            nonce: header("x-service-nonce"),
            signature: header("x-service-signature"),
            body,
        };
        let secret = self.0.secret.get().map(String::as_str).unwrap_or_default();
        if let Err(cause) = verify(secret, &delivery, SystemClock.now().into()) {
            print_line(failure_line("refused", &cause.to_string()));
            return HttpResponse::Unauthorized().body(cause.to_string());
        }
        let (event, id) =
            (serde_json::from_slice::<Value>(body).unwrap_or_default(), header("x-service-event-id"));
        let summary = summarize_event(&event);
        if text_at(&event, "/data/message").starts_with(REFUSED_PREFIX) {
            self.record_refusal(id, &summary);
            return HttpResponse::InternalServerError().body("the message begins with `fail`");
        }
        let delay =
            elapsed_since(text_at(&event, "/data/created_at")).or_else(|| elapsed_since(delivery.timestamp));
        let delay = delay.map(|delay| format!(", {delay:.0?} after its creation")).unwrap_or_default();
        print_line(success_line("verified", &format!("{summary}{delay} (event {id})")));
        if let Some(sender) = &*self.0.verified.lock().unwrap_or_else(PoisonError::into_inner) {
            let _nobody_waits = sender.send(id.to_owned());
        }
        HttpResponse::Ok().finish()
    }

    /// Prints an attempt that is refused on purpose, and when the next attempt follows.
    fn record_refusal(&self, id: &str, summary: &str) {
        let mut refused = self.0.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let before = refused.remove(id).unwrap_or_default();
        let (production, attempt) = (RetrySchedule::default(), before + 1);
        let next = match (production.retry_wait(before), self.0.schedule.retry_wait(before)) {
            (Some(wait), Some(here)) => {
                refused.insert(id.to_owned(), attempt);
                let actual_wait = if here == wait { String::new() } else { format!(" (here {here:.1?})") };
                format!("next attempt in {}{actual_wait}", format_wait(wait))
            }
            _ => "final attempt failed; the event is exhausted and can be replayed".to_owned(),
        };
        let all = production.waits_by_failed_attempts().len();
        print_line(failure_line("responded 500", &format!("{summary}, attempt {attempt} of {all}; {next}")));
    }
}

async fn receive_event(receiver: Data<SandboxReceiver>, request: HttpRequest, body: Bytes) -> HttpResponse {
    receiver.verify_and_respond(&request, &body)
}

/// Summarizes an event.
fn summarize_event(event: &Value) -> String {
    let kind = text_at(event, "/type");
    let points = event.pointer("/data/points").and_then(Value::as_u64).unwrap_or_default();
    let points = numbers::count_with_noun(points, "point", "points");
    match text_at(event, "/data/receiver_name") {
        "" => format!("{kind}: {points} of {}", text_at(event, "/data/user_email")),
        receiver => {
            format!("{kind}: {points} from {} to {receiver}", text_at(event, "/data/sender_name"))
        }
    }
}

fn text_at<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the time since `timestamp`; `None` if it is invalid or in the future.
fn elapsed_since(timestamp: &str) -> Option<Duration> {
    let then = guerdon_domain::values::Timestamp::parse(timestamp).ok()?;
    let micros = SystemClock.now().unix_micros().checked_sub(then.unix_micros())?;
    u64::try_from(micros).ok().map(Duration::from_micros)
}

/// Formats a wait, such as `1 d 10 h 37 min 54 s`.
fn format_wait(wait: Duration) -> String {
    let seconds = wait.as_secs();
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3_600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let units: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n} {unit}")).collect();
    units.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_formatted_in_units() {
        assert_eq!(format_wait(Duration::from_secs(15)), "15 s");
        assert_eq!(format_wait(Duration::from_secs(582)), "9 min 42 s");
        assert_eq!(format_wait(Duration::from_secs(124_674)), "1 d 10 h 37 min 54 s");
        assert_eq!(format_wait(Duration::from_secs(36_030)), "10 h 30 s");
    }
}
