//! Limits the time of every SMTP operation, however slowly a server sends its responses.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout, timeout_at};

use super::connection::{ServerSettings, SmtpConnection};
use crate::encoded_message::EncodedMessage;
use crate::failure::SendFailure;

/// The longest wait for the response to QUIT.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A runtime that drives at most one connection. End it with [`SmtpSession::close_session`]: dropping it would wait for
/// a name resolution that is still running.
pub(super) struct SmtpSession {
    runtime: Runtime,
    connection: Option<SmtpConnection>,
}

impl SmtpSession {
    /// A session without a connection.
    pub(super) fn new() -> Result<Self, SendFailure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|cause| SendFailure::server(format!("cannot start a runtime: {cause}")))?;
        Ok(Self { runtime, connection: None })
    }

    /// Connects to the server, encrypts the connection and authenticates, as the settings require.
    pub(super) fn open_connection(
        &mut self,
        server: &ServerSettings,
        time_limit: Duration,
    ) -> Result<(), SendFailure> {
        self.connection = Some(self.runtime.block_on(connect_or_reuse(None, server, time_limit))?);
        Ok(())
    }

    /// Sends a message over the existing connection or, if that is closed, over a new one. Keeps the connection for the
    /// next message unless its state is unknown afterwards.
    pub(super) fn send_message(
        &mut self,
        server: &ServerSettings,
        message: &EncodedMessage,
        time_limit: Duration,
    ) -> Result<(), SendFailure> {
        let Self { runtime, connection: connection_slot } = self;
        runtime.block_on(async {
            let deadline = Instant::now() + time_limit;
            let mut connection = connect_or_reuse(connection_slot.take(), server, time_limit).await?;
            let result = timeout_at(deadline, connection.send_message(message)).await;
            let may_have_accepted = connection.may_have_accepted();
            if connection.is_usable() {
                *connection_slot = Some(connection);
            }
            result.unwrap_or_else(|_elapsed| {
                let message = format!("not finished within {time_limit:?}");
                Err(if may_have_accepted {
                    SendFailure::unconfirmed(message)
                } else {
                    SendFailure::mail(message)
                })
            })
        })
    }

    /// Sends QUIT to the server and ends the session.
    pub(super) fn close_session(self) {
        if let Some(mut connection) = self.connection {
            let _response = self.runtime.block_on(async { timeout(QUIT_TIMEOUT, connection.quit()).await });
        }
        self.runtime.shutdown_background();
    }
}

/// The existing connection if the server still responds on it, otherwise a new one.
async fn connect_or_reuse(
    existing: Option<SmtpConnection>,
    server: &ServerSettings,
    time_limit: Duration,
) -> Result<SmtpConnection, SendFailure> {
    let connecting = async {
        if let Some(mut connection) = existing
            && connection.reset_session().await
        {
            return Ok(connection);
        }
        SmtpConnection::open_connection(server).await
    };
    timeout(time_limit, connecting).await.unwrap_or_else(|_elapsed| {
        Err(SendFailure::server(format!("connecting: not finished within {time_limit:?}")))
    })
}
