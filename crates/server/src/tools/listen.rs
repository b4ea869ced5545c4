//! `guerdon listen`: forwards a provider's events to a receiver on this machine.

mod position;
mod target;

use std::path::PathBuf;
use std::thread::sleep; // tidy: a receiver or service that is unavailable has to be polled
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use guerdon_client::{Client, Credentials, Error, Event, EventPage, EventQuery, Start};
use guerdon_domain::ports::Clock as _;
use url::Url;

use self::position::ListenPosition;
use self::target::{ForwardOutcome, ForwardTarget};
use crate::commands::{CommandOutput, parse_time};
use crate::platform::SystemClock;
use crate::terminal::print_line;
use crate::terminal::printable;

/// The maximum size of a response. A response has at most one event, which is far smaller.
const RESPONSE_BYTES_MAX: u64 = 8 << 20;
/// How long a request waits for an event.
const WAIT_SECONDS: u32 = 20;
/// The minimum time between requests without an event. A service that is stopping responds at once.
const REQUEST_INTERVAL_MIN: Duration = Duration::from_secs(1);
/// How long to wait before retrying a receiver or a service that is unavailable.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Forward a provider's events to a receiver on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = r"Examples:
  guerdon listen --base-url https://guerdon.example \
    --forward-to http://127.0.0.1:8080/hook
  guerdon listen --base-url https://guerdon.example \
    --forward-to http://127.0.0.1:8080/hook --since 2h")]
pub(crate) struct Listen {
    /// URL of the service, such as https://localhost:8443
    #[arg(long, value_name = "URL")]
    base_url: String,
    /// URL of the receiver, on this machine
    #[arg(long, value_name = "URL")]
    forward_to: String,
    /// Start with events of this time, or of this age such as 2h. Default: continue where the last run stopped, or
    /// start with new events
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Secret that signs the forwarded events
    #[arg(long, value_name = "SECRET")]
    shared_secret: Option<String>,
    /// File of certificates to trust, in PEM
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
}

impl Listen {
    /// Forwards events until the process is stopped. The position is stored before the first event and after each
    /// event. So after an interruption, the next run repeats only the event that was in flight.
    pub(super) fn forward_events(&self) -> Result<CommandOutput> {
        let credentials = Credentials {
            api_key: read_variable("GUERDON_API_KEY")?,
            api_secret: read_variable("GUERDON_API_SECRET")?,
        };
        check_url("--base-url", &self.base_url)?;
        check_url("--forward-to", &self.forward_to)?;
        let client = self.build_client(&credentials)?.with_response_max_bytes(RESPONSE_BYTES_MAX);
        let (base, target) =
            (client.base_url(), ForwardTarget::new(&self.forward_to, self.shared_secret.as_deref()));
        let mut position = ListenPosition::load_for(&[base, &credentials.api_key, &self.forward_to])?;
        let since = self.since.as_deref().map(|since| parse_time(since, SystemClock.now())).transpose();
        match since.map_err(|error| anyhow!("--since {error}"))? {
            Some(since) => position.start_at(since)?,
            None if position.is_stored() => {}
            None => position.start_after(&find_feed_end(&client).map_err(with_hint)?)?,
        }
        let mut page = next_event(&client, position.feed_start(), 0).map_err(with_hint)?;
        print_escaped(&format!("Forwarding events of {base} to {}. Ctrl-C stops it.", self.forward_to));
        let mut is_hint_shown = false;
        loop {
            for event in page.events.iter().filter(|event| position.is_wanted(event)) {
                is_hint_shown |= self.forward_event(&target, event, is_hint_shown)?;
            }
            position.advance_to(&page.next)?;
            page = wait_for_event(&client, &position)?;
        }
    }

    fn build_client(&self, credentials: &Credentials) -> Result<Client> {
        let Some(file) = &self.cacert else { return Ok(Client::new(&self.base_url, credentials)) };
        let pem = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        Client::with_root_certificates(&self.base_url, credentials, &pem)
            .with_context(|| format!("--cacert {}", file.display()))
    }

    /// Sends an event and prints the outcome. Returns whether the event was skipped, because the receiver refused it or
    /// did not respond in time. While no receiver accepts connections, waits.
    fn forward_event(&self, target: &ForwardTarget, event: &Event, is_hint_shown: bool) -> Result<bool> {
        let mut is_waiting = false;
        loop {
            let began = Instant::now();
            let outcome = target.send_event(event)?;
            let (duration, subject) = (began.elapsed(), format!("{} {}", event.r#type, event.id));
            match outcome {
                ForwardOutcome::Accepted => {
                    print_escaped(&format!("ok {subject} 200 in {duration:.0?}"));
                    return Ok(false);
                }
                ForwardOutcome::Refused(status, line) if line.is_empty() => {
                    print_escaped(&format!("!! {subject} {status} in {duration:.0?}"));
                }
                ForwardOutcome::Refused(status, line) => {
                    print_escaped(&format!("!! {subject} {status} in {duration:.0?}: {line}"))
                }
                ForwardOutcome::NoResponse(cause) => print_escaped(&format!("!! {subject} {cause}")),
                ForwardOutcome::Unreachable(cause) => {
                    if !is_waiting {
                        print_escaped(&format!("no receiver at {}: {cause}; waiting", self.forward_to));
                    }
                    is_waiting = true;
                    sleep(RETRY_INTERVAL);
                    continue;
                }
            }
            if !is_hint_shown {
                print_escaped(
                    "   Not retried; restart with an earlier --since, such as --since 10m, to receive it again.",
                );
            }
            return Ok(true);
        }
    }
}

/// Returns the cursor after the newest event. Requests the feed from a time in the far future instead of the current
/// time, because the clocks of this machine and of the service may differ.
fn find_feed_end(client: &Client) -> Result<String, Error> {
    next_event(client, Start::Moment("9999-12-31T00:00:00.000Z"), 0).map(|page| page.next)
}

/// Fetches the next event, and the cursor after it. The page is empty if no event is created within these seconds.
fn next_event(client: &Client, start: Start<'_>, wait_seconds: u32) -> Result<EventPage, Error> {
    let wait_seconds = Some(wait_seconds);
    client.get_event_page(&EventQuery { start, limit: Some(1), wait_seconds, ..EventQuery::default() }).send()
}

/// Waits for the next event. The page is empty if the wait ended without one.
fn wait_for_event(client: &Client, position: &ListenPosition) -> Result<EventPage> {
    let requested = Instant::now();
    let page = retry_until_response(|| next_event(client, position.feed_start(), WAIT_SECONDS))?;
    if page.events.is_empty() {
        sleep(REQUEST_INTERVAL_MIN.saturating_sub(requested.elapsed()));
    }
    Ok(page)
}

/// Retries until the service responds. A refusal of the request or an untrusted certificate is returned at once.
fn retry_until_response(request: impl Fn() -> Result<EventPage, Error>) -> Result<EventPage> {
    let mut is_announced = false;
    loop {
        match request() {
            Err(cause @ Error::Refused { status, .. }) if status < 429 => return Err(cause.into()),
            Err(cause @ Error::Untrusted(_)) => return Err(with_hint(cause)),
            Err(cause @ (Error::TooLarge(_) | Error::Unreadable(_))) => return Err(cause.into()),
            Err(_) if is_announced => {}
            Err(cause) => print_escaped(&format!("the service is unavailable: {cause}; waiting")),
            Ok(events) => return Ok(events),
        }
        is_announced = true;
        sleep(RETRY_INTERVAL);
    }
}

/// Adds a hint to an error.
fn with_hint(error: Error) -> anyhow::Error {
    match error {
        Error::Untrusted(_) => anyhow!("{error}; pass the service's certificate with --cacert FILE"),
        other => other.into(),
    }
}

/// Prints a line that may contain text from the service or the receiver.
fn print_escaped(line: &str) {
    print_line(printable::escape_line(line));
}

fn check_url(option: &str, url: &str) -> Result<()> {
    let is_valid = Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    ensure!(is_valid, "{option} must be an http or https URL, not {url}");
    Ok(())
}

fn read_variable(name: &str) -> Result<String> {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(value),
        _ => bail!("{name} is not set: use the value that the operator gave you"),
    }
}
