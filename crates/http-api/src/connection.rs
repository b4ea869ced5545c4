//! What the server underneath lets pass on a connection (reliability C-6, D-30): a request that was sent along behind
//! one that ends the connection, a body that goes on after its answer, a head that never ends.

use std::any::Any;
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::dev::Extensions;
use actix_web::rt;
use tokio::time::sleep;

/// How long the answer that ends a connection may take to be read.
const LAST_ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// How often a connection is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What a connection is at.
enum Phase {
    /// Between requests since then.
    Idle(Instant),
    /// Handling a request.
    Busy,
    /// Given its last answer then; nothing that follows is handled.
    Ended(Instant),
}

/// One connection, seen from outside its requests.
pub(crate) struct Connection {
    /// A second handle of the socket, to cut it with.
    socket: TcpStream,
    phase: Mutex<Phase>,
}

impl Connection {
    /// Whether a request may begin; not after the last answer.
    pub(crate) fn begin(&self) -> bool {
        let mut phase = self.phase();
        let may = !matches!(*phase, Phase::Ended(_));
        if may {
            *phase = Phase::Busy;
        }
        may
    }

    /// A request has its answer; `is_last` where the connection closes behind it.
    pub(crate) fn end(&self, is_last: bool) {
        let now = Instant::now();
        *self.phase() = if is_last { Phase::Ended(now) } else { Phase::Idle(now) };
    }

    /// Waits for the cut, which comes first; for a request that must have no answer.
    pub(crate) async fn outlast() {
        sleep(LAST_ANSWER_WITHIN + 2 * LOOK_EVERY).await;
    }

    fn is_overdue(&self, idle_max: Duration) -> bool {
        match *self.phase() {
            Phase::Idle(since) => since.elapsed() > idle_max,
            Phase::Busy => false,
            Phase::Ended(since) => since.elapsed() > LAST_ANSWER_WITHIN,
        }
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts a new connection under watch; one that is idle for longer than `idle_max` is cut, half a head or not.
pub(crate) fn watch(stream: &dyn Any, extensions: &mut Extensions, idle_max: Duration) {
    let Some(socket) = descriptor(stream).and_then(|it| it.try_clone_to_owned().ok()) else { return };
    let phase = Mutex::new(Phase::Idle(Instant::now()));
    let connection = Arc::new(Connection { socket: socket.into(), phase });
    rt::spawn(guard(Arc::downgrade(&connection), idle_max));
    extensions.insert(connection);
}

fn descriptor(stream: &dyn Any) -> Option<BorrowedFd<'_>> {
    let plain = stream.downcast_ref::<rt::net::TcpStream>();
    let tls = || stream.downcast_ref::<TlsStream<rt::net::TcpStream>>().map(|it| it.get_ref().0);
    plain.or_else(tls).map(AsFd::as_fd)
}

async fn guard(connection: Weak<Connection>, idle_max: Duration) {
    loop {
        sleep(LOOK_EVERY).await;
        let Some(connection) = connection.upgrade() else { return };
        if connection.is_overdue(idle_max) {
            // It may be gone already.
            connection.socket.shutdown(Shutdown::Both).unwrap_or_default();
            return;
        }
    }
}
