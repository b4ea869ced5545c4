//! What is said on a connection, and whose fault it is when that fails.

use std::error::Error as _;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::Mechanism;
use lettre::transport::smtp::client::{SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::{Response, Severity};

use super::url::SmtpUrl;
use crate::letter::Letter;
use crate::transport::Failure;

const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];
/// The server closes the connection.
const CLOSING: u16 = 421;
/// The server wants a sign-in, or another one, or an encrypted one.
const SIGN_IN: [u16; 4] = [530, 534, 535, 538];
/// The server waits for the message.
const GO_ON: u16 = 354;
/// Enough to read what is there already.
const GLANCE: Duration = Duration::from_millis(1);

/// How to come to a connection.
pub(super) struct Plan {
    pub(super) url: SmtpUrl,
    pub(super) tls: TlsParameters,
    pub(super) hello: ClientId,
    pub(super) limit: Duration,
}

/// A connection that is greeted, encrypted and signed in as planned.
pub(super) struct Connection {
    inner: SmtpConnection,
    in_order: bool,
}

impl Connection {
    /// Every failure here is the server's: it has not heard of any mail yet.
    pub(super) fn open(plan: &Plan) -> Result<Self, Failure> {
        let at = |step: &'static str| move |cause: Error| Failure::server(told(step, &cause));
        let server = (plan.url.host.as_str(), plan.url.port);
        let mut inner = SmtpConnection::connect(server, Some(plan.limit), &plan.hello, plan.wrapped(), None)
            .map_err(at("connecting"))?;
        if let Some(tls) = plan.starts_tls() {
            inner.starttls(tls, &plan.hello).map_err(at("STARTTLS"))?;
            refuse_forged_answers(&mut inner, plan.limit)?;
        }
        if let Some(credentials) = &plan.url.credentials {
            inner.auth(&MECHANISMS, credentials).map_err(at("signing in"))?;
        }
        Ok(Self { inner, in_order: true })
    }

    /// Whether a further mail may be said on it.
    pub(super) fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// Asks the server.
    pub(super) fn is_open(&mut self) -> bool {
        self.inner.command(Rset).is_ok()
    }

    pub(super) fn send(&mut self, letter: &Letter) -> Result<(), Failure> {
        require_ascii(letter)?;
        self.in_order = false;
        let mail = Mail::new(Some(letter.from.clone()), vec![]);
        let sender = self.say("MAIL FROM", mail).map_err(Trouble::with_all_mail)?;
        expect("MAIL FROM", &sender, |it| it.code().severity == Severity::PositiveCompletion)?;
        let recipient = self.say("RCPT TO", Rcpt::new(letter.to.clone(), vec![]));
        let recipient = recipient.map_err(Trouble::with_this_mail)?;
        expect("RCPT TO", &recipient, |it| it.code().severity == Severity::PositiveCompletion)?;
        let data = self.say("DATA", Data).map_err(Trouble::with_this_mail)?;
        expect("DATA", &data, |it| it.has_code(GO_ON))?;
        let bytes = letter.bytes();
        let end = self.inner.message(bytes.strip_suffix(b"\r\n").unwrap_or(bytes)); // it ends the line itself
        let end = self.noted("the message", end).map_err(Trouble::with_this_mail)?;
        expect("the message", &end, |it| it.code().severity == Severity::PositiveCompletion)?;
        self.in_order = true;
        Ok(())
    }

    pub(super) fn quit(mut self) {
        let _farewell = self.inner.quit();
    }

    fn say(&mut self, step: &'static str, command: impl Display) -> Result<Response, Trouble> {
        let answer = self.inner.command(command);
        self.noted(step, answer)
    }

    /// After a plain no the connection is in order, for RSET comes before the next mail.
    fn noted(&mut self, step: &'static str, answer: Result<Response, Error>) -> Result<Response, Trouble> {
        answer.map_err(|cause| {
            let code = cause.status().map(u16::from);
            self.in_order = code.is_some_and(|it| it != CLOSING);
            Trouble { code, told: told(step, &cause) }
        })
    }
}

/// Addresses are ASCII and bodies encoded, so that any server takes them; anything else is a fault of ours.
fn require_ascii(letter: &Letter) -> Result<(), Failure> {
    let addresses: [&str; 2] = [letter.from.as_ref(), letter.to.as_ref()];
    if addresses.iter().all(|it| it.is_ascii()) && letter.bytes().is_ascii() {
        return Ok(());
    }
    Err(Failure::unsendable("it is not ASCII"))
}

/// A failed command.
struct Trouble {
    code: Option<u16>,
    told: String,
}

impl Trouble {
    /// Where every mail would fail alike: nothing but the sender was named. A break may still be about the mail
    /// before, or chance.
    fn with_all_mail(self) -> Failure {
        if self.code.is_some() { Failure::server(self.told) } else { Failure::mail(self.told) }
    }

    fn with_this_mail(self) -> Failure {
        match self.code {
            Some(CLOSING) => Failure::server(self.told),
            Some(code) if SIGN_IN.contains(&code) => Failure::server(self.told),
            Some(500..) => Failure::refused(self.told),
            _ => Failure::mail(self.told),
        }
    }
}

/// What was sent before TLS began may be anybody's, and lettre would take it for answers to what is said under TLS:
/// a mail could seem taken that was not. Nothing may be waiting here, for nothing was asked. A single forged answer,
/// used up by EHLO, shifts all that follow, and DATA is then not answered by 354.
fn refuse_forged_answers(inner: &mut SmtpConnection, limit: Duration) -> Result<(), Failure> {
    let forged = || Failure::server("STARTTLS: answers came from outside the encryption");
    let broken = |cause: io::Error| Failure::server(format!("STARTTLS: {cause}"));
    inner.set_timeout(Some(GLANCE)).map_err(broken)?;
    let Err(cause) = inner.read_response() else { return Err(forged()) };
    let io_cause = cause.source().and_then(|it| it.downcast_ref::<io::Error>()).map(io::Error::kind);
    if !matches!(io_cause, Some(ErrorKind::WouldBlock | ErrorKind::TimedOut)) {
        return Err(forged());
    }
    inner.set_timeout(Some(limit)).map_err(broken)
}

fn expect(step: &str, answer: &Response, is_it: impl Fn(&Response) -> bool) -> Result<(), Failure> {
    if is_it(answer) {
        return Ok(());
    }
    Err(Failure::mail(format!("{step}: the server answered {} out of turn", answer.code())))
}

/// The failure for the log. A server's own words stay out, for they may repeat a recipient; its codes tell enough.
fn told(step: &str, cause: &Error) -> String {
    let Some(code) = cause.status() else {
        return if cause.is_response() {
            format!("{step}: the server's answer cannot be understood, or broke off")
        } else {
            format!("{step}: {cause}")
        };
    };
    let words = cause.source().map(ToString::to_string).unwrap_or_default();
    match words.split_whitespace().next().filter(|it| is_enhanced_code(it)) {
        Some(enhanced) => format!("{step}: the server answered {code} {enhanced}"),
        None => format!("{step}: the server answered {code}"),
    }
}

/// As in `5.1.1` (RFC 3463).
fn is_enhanced_code(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_number = |it: &&str| matches!(it.len(), 1..=3) && it.chars().all(|c| c.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(is_number)
}
