//! Local receivers of events.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::harness::http_message;

const CONFIRMATION: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// Small, because there may be hundreds of connections.
const STACK_BYTES: usize = 128 * 1024;

/// How a receiver responds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiverBehaviour {
    /// Confirms immediately and records the event.
    Confirms,
    /// Accepts and reads, but never responds.
    Hangs,
}

/// A received event.
pub(crate) struct ReceivedEvent {
    pub(crate) first_byte: Instant,
    /// The request line and the header fields.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// A listener with a thread per connection. It closes when it is dropped.
pub(crate) struct EventReceiver {
    address: SocketAddr,
    state: Arc<ReceiverState>,
    listener_thread: Option<JoinHandle<()>>,
}

struct ReceiverState {
    behaviour: ReceiverBehaviour,
    is_closed: AtomicBool,
    events: Mutex<Vec<ReceivedEvent>>,
}

impl EventReceiver {
    pub(crate) fn start(behaviour: ReceiverBehaviour) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let state = Arc::new(ReceiverState {
            behaviour,
            is_closed: AtomicBool::new(false),
            events: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        let listening = spawn_thread("receiver", move || accept_connections(&listener, &shared))?;
        Ok(Self { address, state, listener_thread: Some(listening) })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://localhost:{}/hook", self.address.port())
    }

    /// Waits until this many events have arrived.
    pub(crate) fn wait_for(&self, count: usize, limit: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            let received = self.state.lock_events().len();
            if received >= count {
                return Ok(());
            }
            ensure!(start.elapsed() < limit, "{received} of {count} events arrived in {} s", limit.as_secs());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the events received since the last call.
    pub(crate) fn take_events(&self) -> Vec<ReceivedEvent> {
        std::mem::take(&mut *self.state.lock_events())
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::SeqCst);
        // Wakes the listener. The threads of connections end when the service closes them.
        let is_woken = TcpStream::connect(self.address).is_ok();
        if let Some(listening) = self.listener_thread.take().filter(|_| is_woken) {
            drop(listening.join());
        }
    }
}

impl ReceiverState {
    fn lock_events(&self) -> MutexGuard<'_, Vec<ReceivedEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept_connections(listener: &TcpListener, state: &Arc<ReceiverState>) {
    for stream in listener.incoming().flatten() {
        if state.is_closed.load(Ordering::SeqCst) {
            return;
        }
        let state = Arc::clone(state);
        if let Err(error) = spawn_thread("connection", move || serve_connection(stream, &state)) {
            eprintln!("a receiver cannot accept a connection: {error}");
        }
    }
}

/// Serves a connection until it ends, cleanly or not.
fn serve_connection(mut stream: TcpStream, state: &ReceiverState) {
    let mut buffer = Vec::new();
    if stream.set_nodelay(true).is_err() {
        return;
    }
    while let Ok(Some(message)) = http_message::read_message(&mut stream, &mut buffer) {
        if state.behaviour == ReceiverBehaviour::Hangs {
            continue;
        }
        let (head, body) = (message.head.to_owned(), message.body.to_vec());
        state.lock_events().push(ReceivedEvent { first_byte: message.first_byte, head, body });
        if stream.write_all(CONFIRMATION).is_err() {
            return;
        }
    }
}

fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work)
}
