//! `guerdon listen`: a provider's events, brought to an address of one's own machine.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::thread::sleep; // tidy: nobody tells when an event is there
use std::time::{Duration, Instant};

use anstream::println;
use anyhow::{Context as _, Result, bail};
use guerdon_client::{Client, Credentials, Error, Event, Events, sign};
use guerdon_domain::ports::{Clock as _, Timestamp};
use ring::digest::{SHA256, digest};
use ureq::Agent;
use url::Url;

use crate::commands::{Output, since};
use crate::hex;
use crate::world::{SystemClock, files, random};

/// How often it asks while nothing comes.
const EVERY: Duration = Duration::from_secs(1);
/// How long a receiver may take, as in earnest.
const WITHIN: Duration = Duration::from_secs(15);
/// How long it waits for a receiver that is not there.
const AWAY: Duration = Duration::from_secs(2);

/// Forwards events.
#[derive(Debug, clap::Args)]
pub(crate) struct Listen {
    /// The service, such as https://localhost:8443
    #[arg(long, value_name = "URL")]
    base_url: String,
    /// Where events go: an address of this machine
    #[arg(long, value_name = "URL")]
    forward_to: String,
    /// Begin with events of this time, or of this age such as 2h; else where it stopped, or now
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Sign for that address with this secret
    #[arg(long, value_name = "SECRET")]
    shared_secret: Option<String>,
    /// A certificate to trust, in PEM
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
}

impl Listen {
    /// Forwards until it is stopped. What was under way then comes once more the next time.
    pub(super) fn run(&self) -> Result<Output> {
        let credentials =
            Credentials { api_key: secret("GUERDON_API_KEY")?, api_secret: secret("GUERDON_API_SECRET")? };
        let target = Url::parse(&self.forward_to).ok().filter(|it| matches!(it.scheme(), "http" | "https"));
        target
            .with_context(|| format!("--forward-to must be an http or https URL, not {}", self.forward_to))?;
        let client = match &self.cacert {
            Some(file) => {
                let pem = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
                Client::trusting(&self.base_url, &credentials, &pem)?
            }
            None => Client::new(&self.base_url, &credentials),
        };
        let place = Place::of(&[&self.base_url, &credentials.api_key, &self.forward_to])?;
        let (mut part, oldest) = self.begin(&client, &place)?;
        let receiver = receiver();
        println!("Forwarding events of {} to {}. Ctrl-C stops it.", self.base_url, self.forward_to);
        loop {
            for event in part.events.iter().filter(|it| is_wanted(it, oldest)) {
                self.forward(&receiver, event)?;
            }
            place.keep(&part.next)?;
            if part.events.is_empty() {
                sleep(EVERY);
            }
            part = patiently(|| client.events(Some(&part.next)))?;
        }
    }

    /// The first events, and the moment before which none is wanted.
    fn begin(&self, client: &Client, place: &Place) -> Result<(Events, Option<Timestamp>)> {
        let now = SystemClock.now();
        let since = self.since.as_deref().map(|it| since::read(it, now)).transpose();
        match (since.map_err(|it| anyhow::anyhow!("--since {it}"))?, place.kept()) {
            (None, Some(cursor)) => Ok((client.events(Some(&cursor))?, None)),
            (since, _) => {
                let since = since.unwrap_or(now);
                Ok((client.events_since(&since.to_string())?, Some(since)))
            }
        }
    }

    /// Sends one, and says what came of it. Nothing is passed over because nobody listens; one that was refused, or not
    /// answered in time, is: it can be sent again by its id.
    fn forward(&self, receiver: &Agent, event: &Event) -> Result<()> {
        let mut is_told = false;
        loop {
            let began = Instant::now();
            let answer = self.send(receiver, event)?;
            let took = began.elapsed();
            match answer {
                Ok(status) => {
                    let mark = if status == 200 { "ok" } else { "!!" };
                    println!("{mark} {} {} {status} in {took:.0?}", event.r#type, event.id);
                    return Ok(());
                }
                Err(cause) if is_there(&cause) => {
                    println!("!! {} {} {cause} after {took:.0?}", event.r#type, event.id);
                    return Ok(());
                }
                Err(cause) => {
                    if !is_told {
                        println!("nobody takes events at {}: {cause}; waiting", self.forward_to);
                    }
                    is_told = true;
                    sleep(AWAY);
                }
            }
        }
    }

    fn send(&self, receiver: &Agent, event: &Event) -> Result<Result<u16, ureq::Error>> {
        let body = event.body.get();
        let mut request = receiver
            .post(&self.forward_to)
            .header("Content-Type", "application/json")
            .header("User-Agent", "Guerdon-Webhooks")
            .header("X-Service-Event-Id", event.id.to_string());
        if let Some(secret) = &self.shared_secret {
            let (timestamp, nonce) = (SystemClock.now().to_string(), hex::encode(&random::bytes::<16>()?));
            let signature = sign(secret, &self.forward_to, &timestamp, &nonce, body.as_bytes());
            request = request
                .header("X-Service-Timestamp", timestamp)
                .header("X-Service-Nonce", nonce)
                .header("X-Service-Signature", signature);
        }
        Ok(request.send(body).map(|it| it.status().as_u16()))
    }
}

/// What asks the receiver as the service would.
fn receiver() -> Agent {
    let config = Agent::config_builder().timeout_global(Some(WITHIN)).http_status_as_error(false);
    config.max_redirects(0).proxy(None).build().into()
}

/// Whether somebody took the connection, though no answer came.
fn is_there(error: &ureq::Error) -> bool {
    !matches!(error, ureq::Error::ConnectionFailed | ureq::Error::HostNotFound)
        && !matches!(error, ureq::Error::Io(cause) if cause.kind() == ErrorKind::ConnectionRefused)
}

/// Asks until the service answers: one that is gone for a while comes back.
fn patiently(mut ask: impl FnMut() -> Result<Events, Error>) -> Result<Events> {
    let mut is_told = false;
    loop {
        match ask() {
            Err(cause @ Error::Refused { status, .. }) if status < 429 => return Err(cause.into()),
            Err(cause) if is_told => drop(cause),
            Err(cause) => println!("the service does not answer: {cause}; waiting"),
            Ok(events) => return Ok(events),
        }
        is_told = true;
        sleep(AWAY);
    }
}

/// An event that was caused in time; the service may begin a little before.
fn is_wanted(event: &Event, oldest: Option<Timestamp>) -> bool {
    let created = Timestamp::parse(&event.created_at).ok();
    oldest.is_none_or(|oldest| created.is_none_or(|it| it >= oldest))
}

fn secret(name: &str) -> Result<String> {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(value),
        _ => bail!("{name} is not set: it is what the operator gave you"),
    }
}

/// Where it stopped: a file of this user's, for these credentials and this target.
struct Place(PathBuf);

impl Place {
    fn of(parts: &[&str]) -> Result<Self> {
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local").join("state"));
        let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).or_else(home);
        let folder = state.context("neither XDG_STATE_HOME nor HOME is set")?.join("guerdon").join("listen");
        files::ensure_private_folder(&folder)?;
        let name = hex::encode(digest(&SHA256, parts.join("\n").as_bytes()).as_ref());
        Ok(Self(folder.join(name.get(..32).unwrap_or(&name))))
    }

    fn kept(&self) -> Option<String> {
        std::fs::read_to_string(&self.0).ok().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty())
    }

    fn keep(&self, cursor: &str) -> Result<()> {
        if self.kept().as_deref() == Some(cursor) {
            return Ok(());
        }
        files::replace_private_file(&self.0, cursor.as_bytes())
    }
}
