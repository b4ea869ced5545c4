//! One connection to a mail server: sends letters command by command, and tells whose fault a failure is.
//!
//! lettre carries out the single commands. Its `AsyncSmtpTransport`, which would do all of this, does not fit: its errors do not
//! name the command that failed, so a refused sender looks like a refused recipient, and it reports a mail as sent when the
//! server responds to DATA with 250, or when responses were injected before TLS began.

use std::error::Error as _;
use std::fmt::Display;
use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::Mechanism;
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::{Response, Severity};
use tokio::time::timeout;

use super::url::{Encryption, SmtpUrl};
use crate::failure::Failure;
use crate::letter::Letter;

const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];
/// The server is closing the connection.
const CLOSING: u16 = 421;
/// The server requires a sign-in, another one, or an encrypted one.
const SIGN_IN_REQUIRED: [u16; 4] = [530, 534, 535, 538];
/// The server waits for the message.
const START_MAIL_INPUT: u16 = 354;
/// The longest attempt to connect to one of a host's addresses.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Enough to notice a response that has arrived already.
const INJECTION_CHECK_TIME: Duration = Duration::from_millis(1);

/// What is needed to connect to a server.
pub(super) struct ServerSettings {
    pub(super) url: SmtpUrl,
    pub(super) tls: TlsParameters,
    pub(super) client_name: ClientId,
}

/// A connection that has been greeted, encrypted and signed in as its settings require.
pub(super) struct Connection {
    inner: AsyncSmtpConnection,
    is_usable: bool,
}

impl Connection {
    /// Connects to the server. Every failure is [`Fault::Server`](crate::Fault::Server), as no mail has been named yet.
    pub(super) async fn open(server: &ServerSettings) -> Result<Self, Failure> {
        let ServerSettings { url, tls, client_name } = server;
        let failed = |step: &'static str| move |cause: Error| Failure::server(describe(step, &cause));
        let tls_from_start = (url.encryption == Encryption::Wrapped).then(|| tls.clone());
        let address = (url.host.as_str(), url.port);
        let connecting = AsyncSmtpConnection::connect_tokio1(
            address,
            Some(CONNECT_TIMEOUT),
            client_name,
            tls_from_start,
            None,
        );
        let mut inner = connecting.await.map_err(failed("connecting"))?;
        if url.encryption == Encryption::StartTls {
            inner.starttls(tls.clone(), client_name).await.map_err(failed("STARTTLS"))?;
            refuse_injected_responses(&mut inner).await?;
        }
        if let Some(credentials) = &url.credentials {
            inner.auth(&MECHANISMS, credentials).await.map_err(failed("signing in"))?;
        }
        Ok(Self { inner, is_usable: true })
    }

    /// Whether the next letter can be sent over this connection, after [`Self::reset`].
    pub(super) fn is_usable(&self) -> bool {
        self.is_usable
    }

    /// Prepares the connection for the next letter; false if the server no longer responds as it should.
    pub(super) async fn reset(&mut self) -> bool {
        self.inner.command(Rset).await.is_ok()
    }

    /// Sends a letter. If the caller drops the future, the connection is not usable any more.
    pub(super) async fn send(&mut self, letter: &Letter) -> Result<(), Failure> {
        require_ascii(letter)?;
        self.is_usable = false;
        let is_completed = |response: &Response| response.code().severity == Severity::PositiveCompletion;
        let mail = Mail::new(Some(letter.from.clone()), vec![]);
        let response = self.run("MAIL FROM", mail).await.map_err(StepError::about_all_mails)?;
        expect("MAIL FROM", &response, is_completed)?;
        let recipient = Rcpt::new(letter.to.clone(), vec![]);
        let response = self.run("RCPT TO", recipient).await.map_err(StepError::about_this_mail)?;
        expect("RCPT TO", &response, is_completed)?;
        let response = self.run("DATA", Data).await.map_err(StepError::about_this_mail)?;
        expect("DATA", &response, |response| response.has_code(START_MAIL_INPUT))?;
        let bytes = letter.bytes();
        // `message` adds the end of the last line.
        let response = self.inner.message(bytes.strip_suffix(b"\r\n").unwrap_or(bytes)).await;
        let response = self.check("the message", response).map_err(StepError::about_this_mail)?;
        expect("the message", &response, is_completed)?;
        self.is_usable = true;
        Ok(())
    }

    pub(super) async fn quit(&mut self) {
        let _response = self.inner.quit().await;
    }

    async fn run(&mut self, step: &'static str, command: impl Display) -> Result<Response, StepError> {
        let response = self.inner.command(command).await;
        self.check(step, response)
    }

    /// After a negative response with a code the connection is usable, because RSET precedes the next letter.
    fn check(&mut self, step: &str, response: Result<Response, Error>) -> Result<Response, StepError> {
        response.map_err(|cause| {
            let code = cause.status().map(u16::from);
            self.is_usable = code.is_some_and(|code| code != CLOSING);
            StepError { code, description: describe(step, &cause) }
        })
    }
}

/// Any server accepts ASCII addresses and encoded bodies, which is all that [`Letter::write`] should produce.
fn require_ascii(letter: &Letter) -> Result<(), Failure> {
    let addresses: [&str; 2] = [letter.from.as_ref(), letter.to.as_ref()];
    if addresses.iter().all(|address| address.is_ascii()) && letter.bytes().is_ascii() {
        return Ok(());
    }
    Err(Failure::unsendable("it is not ASCII"))
}

/// A command that failed, with the code of the server's response, if there was one.
struct StepError {
    code: Option<u16>,
    description: String,
}

impl StepError {
    /// For a command that names only the sender: every mail would get the same negative response. A broken connection may
    /// concern this mail alone.
    fn about_all_mails(self) -> Failure {
        if self.code.is_some() { Failure::server(self.description) } else { Failure::mail(self.description) }
    }

    fn about_this_mail(self) -> Failure {
        match self.code {
            Some(CLOSING) => Failure::server(self.description),
            Some(code) if SIGN_IN_REQUIRED.contains(&code) => Failure::server(self.description),
            Some(500..) => Failure::refused(self.description),
            _ => Failure::mail(self.description),
        }
    }
}

/// Fails if a response is waiting although no command was sent. Anyone on the network can inject responses before TLS begins, and
/// lettre keeps them as responses to the commands that follow under TLS. A single one is used up by EHLO and shifts all that
/// follow; then DATA is not answered with 354.
async fn refuse_injected_responses(connection: &mut AsyncSmtpConnection) -> Result<(), Failure> {
    match timeout(INJECTION_CHECK_TIME, connection.read_response()).await {
        Err(_elapsed) => Ok(()),
        Ok(_) => Err(Failure::server("STARTTLS: answers came from outside the encryption")),
    }
}

fn expect(step: &str, response: &Response, is_expected: impl Fn(&Response) -> bool) -> Result<(), Failure> {
    if is_expected(response) {
        return Ok(());
    }
    Err(Failure::mail(format!("{step}: the server answered {} out of turn", response.code())))
}

/// Describes a failed command for the log: by the codes of the response, without its text, which may repeat a recipient.
fn describe(step: &str, cause: &Error) -> String {
    let Some(code) = cause.status() else {
        return if cause.is_response() {
            format!("{step}: the server's answer cannot be understood, or broke off")
        } else {
            format!("{step}: {cause}")
        };
    };
    let text = cause.source().map(ToString::to_string).unwrap_or_default();
    match text.split_whitespace().next().filter(|word| is_enhanced_code(word)) {
        Some(enhanced) => format!("{step}: the server answered {code} {enhanced}"),
        None => format!("{step}: the server answered {code}"),
    }
}

/// Whether a word is an enhanced status code such as `5.1.1` (RFC 3463).
fn is_enhanced_code(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_number = |part: &&str| matches!(part.len(), 1..=3) && part.chars().all(|c| c.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(is_number)
}
