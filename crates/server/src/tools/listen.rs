//! `guerdon listen`: forwards a provider's events to a receiver on this machine.

mod place;
mod target;

use std::io::Write as _;
use std::path::PathBuf;
use std::thread::sleep; // tidy: the feed has to be polled
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use guerdon_client::{Client, Credentials, Error, Event, EventPage, EventQuery, Start};
use guerdon_domain::ports::Clock as _;
use url::Url;

use self::place::Place;
use self::target::{Answer, Target};
use crate::commands::{Output, parse_time};
use crate::platform::SystemClock;
use crate::terminal::print_line;
use crate::terminal::printable;

/// The most bytes of a response, which has one event: far more than any event needs.
const RESPONSE_MAX_BYTES: u64 = 8 << 20;
/// How often to poll while there are no events.
const EVERY: Duration = Duration::from_secs(1);
/// How long to wait before retrying a receiver or a service that is unavailable.
const AWAY: Duration = Duration::from_secs(2);

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
    /// Start with events of this time, or of this age such as 2h. Default: continue after the last run, or start now
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
    /// event: the next run sends only the event that was in flight again.
    pub(super) fn run(&self) -> Result<Output> {
        let credentials =
            Credentials { api_key: secret("GUERDON_API_KEY")?, api_secret: secret("GUERDON_API_SECRET")? };
        let base_url = check("--base-url", &self.base_url)?;
        check("--forward-to", &self.forward_to)?;
        if base_url.scheme() == "http" {
            warn_of_plain_http(&self.base_url);
        }
        let client = self.client(&credentials)?.with_response_max_bytes(RESPONSE_MAX_BYTES);
        let (base, target) = (client.base(), Target::new(&self.forward_to, self.shared_secret.as_deref()));
        let mut place = Place::find(&[base, &credentials.api_key, &self.forward_to])?;
        let now = SystemClock.now();
        let since = self.since.as_deref().map(|since| parse_time(since, now)).transpose();
        match since.map_err(|error| anyhow!("--since {error}"))? {
            Some(since) => place.begin(since)?,
            None if place.is_begun() => {}
            None => place.begin(now)?,
        }
        let mut part = next_event(&client, place.start()).map_err(explain)?;
        tell(&format!("Forwarding events of {base} to {}. Ctrl-C stops it.", self.forward_to));
        let mut is_told = false;
        loop {
            for event in part.events.iter().filter(|event| place.wants(event)) {
                is_told |= self.forward(&target, event, is_told)?;
            }
            place.advance(&part.next)?;
            if part.events.is_empty() {
                sleep(EVERY);
            }
            part = retry_until_response(|| next_event(&client, place.start()))?;
        }
    }

    fn client(&self, credentials: &Credentials) -> Result<Client> {
        let Some(file) = &self.cacert else { return Ok(Client::new(&self.base_url, credentials)) };
        let pem = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        Client::trusting(&self.base_url, credentials, &pem)
            .with_context(|| format!("--cacert {}", file.display()))
    }

    /// Sends an event and prints the outcome. Returns whether the event was skipped: that happens if the receiver
    /// refuses it or responds too late, not if no receiver listens.
    fn forward(&self, target: &Target, event: &Event, is_told: bool) -> Result<bool> {
        let mut is_waiting = false;
        loop {
            let began = Instant::now();
            let answer = target.send(event)?;
            let (took, what) = (began.elapsed(), format!("{} {}", event.r#type, event.id));
            match answer {
                Answer::Taken => {
                    tell(&format!("ok {what} 200 in {took:.0?}"));
                    return Ok(false);
                }
                Answer::Refused(status, said) if said.is_empty() => {
                    tell(&format!("!! {what} {status} in {took:.0?}"));
                }
                Answer::Refused(status, said) => tell(&format!("!! {what} {status} in {took:.0?}: {said}")),
                Answer::Silent(cause) => tell(&format!("!! {what} {cause}")),
                Answer::Away(cause) => {
                    if !is_waiting {
                        tell(&format!("no receiver at {}: {cause}; waiting", self.forward_to));
                    }
                    is_waiting = true;
                    sleep(AWAY);
                    continue;
                }
            }
            if !is_told {
                tell(
                    "   Not retried; restart with an earlier --since, such as --since 10m, to receive it again.",
                );
            }
            return Ok(true);
        }
    }
}

/// Fetches the next event, if there is one, and the cursor after it.
fn next_event(client: &Client, start: Start<'_>) -> Result<EventPage, Error> {
    client.event_page(&EventQuery { start, limit: Some(1), ..EventQuery::default() }).send()
}

/// Retries until the service responds. A refusal or an untrusted certificate is returned at once.
fn retry_until_response(ask: impl Fn() -> Result<EventPage, Error>) -> Result<EventPage> {
    let mut is_told = false;
    loop {
        match ask() {
            Err(cause @ Error::Refused { status, .. }) if status < 429 => return Err(cause.into()),
            Err(cause @ Error::Untrusted(_)) => return Err(explain(cause)),
            Err(cause @ (Error::TooLarge(_) | Error::Unreadable(_))) => return Err(cause.into()),
            Err(_) if is_told => {}
            Err(cause) => tell(&format!("the service is unavailable: {cause}; waiting")),
            Ok(events) => return Ok(events),
        }
        is_told = true;
        sleep(AWAY);
    }
}

/// Adds a hint to an error.
fn explain(error: Error) -> anyhow::Error {
    match error {
        Error::Untrusted(_) => anyhow!("{error}; pass the service's certificate with --cacert FILE"),
        other => other.into(),
    }
}

/// Prints a line that may contain text of the service or the receiver.
fn tell(line: &str) {
    print_line(printable::one_line(line));
}

/// Warns on standard error that the credentials are sent unencrypted.
fn warn_of_plain_http(base: &str) {
    let warning = format!("warning: {base} is not https: the API key and secret are sent unencrypted");
    let _closed = writeln!(std::io::stderr(), "guerdon: {}", printable::one_line(&warning));
}

fn check(option: &str, url: &str) -> Result<Url> {
    let url_or_none = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url_or_none.with_context(|| format!("{option} must be an http or https URL, not {url}"))
}

fn secret(name: &str) -> Result<String> {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(value),
        _ => bail!("{name} is not set: use the value that the operator gave you"),
    }
}
