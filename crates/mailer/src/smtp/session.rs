//! Bounds the time of everything that happens over SMTP, however slowly a server sends its responses.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout, timeout_at};

use super::connection::{Connection, ServerSettings};
use crate::failure::Failure;
use crate::letter::Letter;

/// The longest wait for the response to QUIT.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A runtime that drives at most one connection. End it with [`Session::close`]: a drop would wait for a name resolution
/// that is still running.
pub(super) struct Session {
    runtime: Runtime,
    connection: Option<Connection>,
}

impl Session {
    /// A session without a connection.
    pub(super) fn new() -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| Failure::server(format!("cannot start a runtime: {cause}")))?;
        Ok(Self { runtime, connection: None })
    }

    /// Connects to the server, encrypts the connection and signs in, as the settings require.
    pub(super) fn connect(&mut self, server: &ServerSettings, time_limit: Duration) -> Result<(), Failure> {
        self.connection = Some(self.runtime.block_on(connect(None, server, time_limit))?);
        Ok(())
    }

    /// Sends a letter over the existing connection or, if that is closed, over a new one. Keeps the connection for the next
    /// letter unless its state is unknown afterwards.
    pub(super) fn send(
        &mut self,
        server: &ServerSettings,
        letter: &Letter,
        time_limit: Duration,
    ) -> Result<(), Failure> {
        let Self { runtime, connection: kept } = self;
        runtime.block_on(async {
            let deadline = Instant::now() + time_limit;
            let mut connection = connect(kept.take(), server, time_limit).await?;
            let result = timeout_at(deadline, connection.send(letter)).await;
            if connection.is_usable() {
                *kept = Some(connection);
            }
            result
                .unwrap_or_else(|_elapsed| Err(Failure::mail(format!("not finished within {time_limit:?}"))))
        })
    }

    /// Says goodbye to the server and ends the session.
    pub(super) fn close(self) {
        if let Some(mut connection) = self.connection {
            let _response = self.runtime.block_on(async { timeout(QUIT_TIMEOUT, connection.quit()).await });
        }
        self.runtime.shutdown_background();
    }
}

/// The existing connection if the server still responds on it, else a new one.
async fn connect(
    existing: Option<Connection>,
    server: &ServerSettings,
    time_limit: Duration,
) -> Result<Connection, Failure> {
    let connecting = async {
        if let Some(mut connection) = existing
            && connection.reset().await
        {
            return Ok(connection);
        }
        Connection::open(server).await
    };
    timeout(time_limit, connecting).await.unwrap_or_else(|_elapsed| {
        Err(Failure::server(format!("connecting: not finished within {time_limit:?}")))
    })
}
