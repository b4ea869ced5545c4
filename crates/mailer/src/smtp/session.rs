//! One connection's thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use super::dialogue::{Connection, Plan};
use crate::letter::Letter;
use crate::transport::Failure;

/// A connection that takes one letter after the other. Dropped, it says goodbye on its own time.
pub(super) struct Session {
    letters: Sender<Letter>,
    results: Receiver<Result<(), Failure>>,
    /// Whether it has come as far as letters.
    pub(super) connected: Arc<AtomicBool>,
}

impl Session {
    pub(super) fn open(plan: Plan, alive: Arc<()>) -> io::Result<Self> {
        let (letters, incoming) = channel();
        let (outgoing, results) = channel();
        let connected = Arc::new(AtomicBool::new(false));
        let here = Arc::clone(&connected);
        let body = move || {
            talk(&plan, &incoming, &outgoing, &here);
            drop(alive);
        };
        Builder::new().name("mail-session".into()).spawn(body)?;
        Ok(Self { letters, results, connected })
    }

    pub(super) fn answer_to(
        &self,
        letter: Letter,
        limit: Duration,
    ) -> Result<Result<(), Failure>, RecvTimeoutError> {
        match self.letters.send(letter) {
            Ok(()) => self.results.recv_timeout(limit),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        }
    }
}

fn talk(
    plan: &Plan,
    letters: &Receiver<Letter>,
    results: &Sender<Result<(), Failure>>,
    connected: &AtomicBool,
) {
    let mut connection = None;
    for letter in letters {
        let result = deliver(plan, &mut connection, &letter, connected);
        if results.send(result).is_err() {
            return;
        }
    }
    if let Some(connection) = connection {
        connection.quit();
    }
}

/// On the connection there is, or on a new one. A server may close a connection between two mails; then a new one
/// is made for the mail, once.
fn deliver(
    plan: &Plan,
    connection: &mut Option<Connection>,
    letter: &Letter,
    connected: &AtomicBool,
) -> Result<(), Failure> {
    if let Some(mut used) = connection.take() {
        if used.is_open() {
            return converse(used, connection, letter);
        }
        connected.store(false, Ordering::Relaxed);
    }
    let new = Connection::open(plan)?;
    connected.store(true, Ordering::Relaxed);
    converse(new, connection, letter)
}

/// Keeps the connection where the dialogue left it in order.
fn converse(mut open: Connection, kept: &mut Option<Connection>, letter: &Letter) -> Result<(), Failure> {
    let result = open.send(letter);
    if open.is_in_order() {
        *kept = Some(open);
    }
    result
}
