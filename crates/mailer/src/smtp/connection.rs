//! One connection to a mail server: sends messages command by command, and classifies failures.
//!
//! lettre executes the individual commands. Its `AsyncSmtpTransport`, which would do all of this, is not suitable: its
//! errors do not name the command that failed, so a refused sender looks like a refused recipient, and it reports a
//! mail as sent when the server responds to DATA with 250, or when responses were injected before TLS began.

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
use crate::encoded_message::EncodedMessage;
use crate::failure::SendFailure;

const MECHANISMS: [Mechanism; 2] = [Mechanism::Plain, Mechanism::Login];
/// The server is closing the connection.
const SERVICE_CLOSING: u16 = 421;
/// The server requires authentication, other credentials, or an encrypted connection.
const AUTHENTICATION_FAILED: [u16; 4] = [530, 534, 535, 538];
/// The server waits for the message.
const START_MAIL_INPUT: u16 = 354;
/// The timeout for connecting to one of a host's addresses.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for an injected response. Long enough to notice a response that has already arrived.
const INJECTION_CHECK_TIME: Duration = Duration::from_millis(1);

/// The parameters of a connection to a server.
pub(super) struct ServerSettings {
    pub(super) url: SmtpUrl,
    pub(super) tls: TlsParameters,
    pub(super) client_name: ClientId,
}

/// A connection that has been greeted, encrypted and authenticated as its settings require.
pub(super) struct SmtpConnection {
    inner: AsyncSmtpConnection,
    is_usable: bool,
    may_have_accepted: bool,
}

impl SmtpConnection {
    /// Connects to the server. Every failure is [`FailureKind::Server`](crate::FailureKind::Server), because the server
    /// has not been given an email yet.
    pub(super) async fn open_connection(server: &ServerSettings) -> Result<Self, SendFailure> {
        let ServerSettings { url, tls, client_name } = server;
        let failed =
            |step: &'static str| move |cause: Error| SendFailure::server(describe_error(step, &cause));
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
            inner.auth(&MECHANISMS, credentials).await.map_err(failed("authentication"))?;
        }
        Ok(Self { inner, is_usable: true, may_have_accepted: false })
    }

    /// Whether the next message can be sent over this connection, after [`Self::reset_session`].
    pub(super) fn is_usable(&self) -> bool {
        self.is_usable
    }

    /// Whether the server may have accepted the latest message: the sending of its text has begun.
    pub(super) fn may_have_accepted(&self) -> bool {
        self.may_have_accepted
    }

    /// Prepares the connection for the next message; false if the server no longer responds as it should.
    pub(super) async fn reset_session(&mut self) -> bool {
        self.inner.command(Rset).await.is_ok()
    }

    /// Sends a message. If the caller drops the future, the connection is no longer usable.
    pub(super) async fn send_message(&mut self, message: &EncodedMessage) -> Result<(), SendFailure> {
        require_ascii(message)?;
        (self.is_usable, self.may_have_accepted) = (false, false);
        let is_completed = |response: &Response| response.code().severity == Severity::PositiveCompletion;
        let mail = Mail::new(Some(message.from.clone()), vec![]);
        let response = self.send_command("MAIL FROM", mail).await.map_err(StepError::into_server_failure)?;
        expect_response("MAIL FROM", &response, is_completed)?;
        let recipient = Rcpt::new(message.to.clone(), vec![]);
        let response = self.send_command("RCPT TO", recipient).await.map_err(StepError::into_mail_failure)?;
        expect_response("RCPT TO", &response, is_completed)?;
        let response = self.send_command("DATA", Data).await.map_err(StepError::into_mail_failure)?;
        expect_response("DATA", &response, |response| response.has_code(START_MAIL_INPUT))?;
        self.may_have_accepted = true;
        let bytes = message.as_bytes();
        // `message` appends the line break of the last line.
        let response = self.inner.message(bytes.strip_suffix(b"\r\n").unwrap_or(bytes)).await;
        let response =
            self.check_response("the message", response).map_err(StepError::into_message_failure)?;
        expect_response("the message", &response, is_completed)?;
        self.is_usable = true;
        Ok(())
    }

    pub(super) async fn quit(&mut self) {
        let _response = self.inner.quit().await;
    }

    async fn send_command(
        &mut self,
        step: &'static str,
        command: impl Display,
    ) -> Result<Response, StepError> {
        let response = self.inner.command(command).await;
        self.check_response(step, response)
    }

    /// Converts an error to a [`StepError`], and records whether the connection remains usable. A
    /// negative response with a code leaves it usable, because RSET precedes the next message.
    fn check_response(
        &mut self,
        step: &str,
        response: Result<Response, Error>,
    ) -> Result<Response, StepError> {
        response.map_err(|cause| {
            let code = cause.status().map(u16::from);
            self.is_usable = code.is_some_and(|code| code != SERVICE_CLOSING);
            StepError { code, description: describe_error(step, &cause) }
        })
    }
}

/// Fails unless addresses and message are ASCII, which every server accepts. [`EncodedMessage::encode_mail`] should
/// produce nothing else.
fn require_ascii(message: &EncodedMessage) -> Result<(), SendFailure> {
    let addresses: [&str; 2] = [message.from.as_ref(), message.to.as_ref()];
    if addresses.iter().all(|address| address.is_ascii()) && message.as_bytes().is_ascii() {
        return Ok(());
    }
    Err(SendFailure::unsendable("the encoded email is not ASCII"))
}

/// A command that failed, with the code of the server's response, if there was one.
struct StepError {
    code: Option<u16>,
    description: String,
}

impl StepError {
    /// Converts the failure of a command that names only the sender. Every email would get the same negative response,
    /// so such a response concerns the server. A broken connection may concern only this email.
    fn into_server_failure(self) -> SendFailure {
        if self.code.is_some() {
            SendFailure::server(self.description)
        } else {
            SendFailure::mail(self.description)
        }
    }

    /// Converts the failure of the message itself.
    fn into_message_failure(self) -> SendFailure {
        if self.code.is_none() {
            SendFailure::unconfirmed(self.description)
        } else {
            self.into_mail_failure()
        }
    }

    fn into_mail_failure(self) -> SendFailure {
        match self.code {
            Some(SERVICE_CLOSING) => SendFailure::server(self.description),
            Some(code) if AUTHENTICATION_FAILED.contains(&code) => SendFailure::server(self.description),
            Some(500..) => SendFailure::refused(self.description),
            _ => SendFailure::mail(self.description),
        }
    }
}

/// Fails if a response is waiting although no command was sent. Anyone on the network can inject responses before TLS
/// begins, and lettre keeps them as responses to the commands that follow under TLS. A single injected response is
/// taken for the response to EHLO and shifts all later responses by one, so that DATA does not get 354.
async fn refuse_injected_responses(connection: &mut AsyncSmtpConnection) -> Result<(), SendFailure> {
    match timeout(INJECTION_CHECK_TIME, connection.read_response()).await {
        Err(_elapsed) => Ok(()),
        Ok(_) => Err(SendFailure::server("STARTTLS: the server sent data before the TLS handshake")),
    }
}

fn expect_response(
    step: &str,
    response: &Response,
    is_expected: impl Fn(&Response) -> bool,
) -> Result<(), SendFailure> {
    if is_expected(response) {
        return Ok(());
    }
    Err(SendFailure::mail(format!("{step}: unexpected response {} from the server", response.code())))
}

/// Describes a failed command for the log: by the codes of the response, without its text, which may repeat a
/// recipient.
fn describe_error(step: &str, cause: &Error) -> String {
    let Some(code) = cause.status() else {
        return if cause.is_response() {
            format!("{step}: the server's response is malformed or incomplete")
        } else {
            format!("{step}: {cause}")
        };
    };
    let text = cause.source().map(ToString::to_string).unwrap_or_default();
    match text.split_whitespace().next().filter(|word| is_enhanced_code(word)) {
        Some(enhanced) => format!("{step}: the server returned {code} {enhanced}"),
        None => format!("{step}: the server returned {code}"),
    }
}

/// Whether a word is an enhanced status code such as `5.1.1` (RFC 3463).
fn is_enhanced_code(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_number = |part: &&str| matches!(part.len(), 1..=3) && part.chars().all(|c| c.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(is_number)
}
