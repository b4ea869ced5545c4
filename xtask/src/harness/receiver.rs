//! Local receivers of events.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::harness::wire;

const CONFIRMATION: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// Small, because there may be hundreds of connections.
const STACK_BYTES: usize = 128 * 1024;

/// How a receiver responds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Confirms immediately and records the event.
    Confirms,
    /// Accepts and reads, but never responds.
    Hangs,
}

/// A received event.
pub(crate) struct Delivery {
    pub(crate) first_byte: Instant,
    pub(crate) body: Vec<u8>,
}

/// A listener with a thread per connection. It closes when it is dropped.
pub(crate) struct Receiver {
    address: SocketAddr,
    state: Arc<Received>,
    listening: Option<JoinHandle<()>>,
}

struct Received {
    manner: Manner,
    is_closed: AtomicBool,
    deliveries: Mutex<Vec<Delivery>>,
}

impl Receiver {
    pub(crate) fn start(manner: Manner) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let state =
            Arc::new(Received { manner, is_closed: AtomicBool::new(false), deliveries: Mutex::default() });
        let shared = Arc::clone(&state);
        let listening = thread("receiver", move || listen(&listener, &shared))?;
        Ok(Self { address, state, listening: Some(listening) })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://localhost:{}/hook", self.address.port())
    }

    /// Waits until this many events have arrived.
    pub(crate) fn wait_for(&self, count: usize, limit: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            let arrived = self.state.deliveries().len();
            if arrived >= count {
                return Ok(());
            }
            ensure!(start.elapsed() < limit, "{arrived} of {count} events arrived in {} s", limit.as_secs());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the events received since the last call.
    pub(crate) fn take(&self) -> Vec<Delivery> {
        std::mem::take(&mut *self.state.deliveries())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::SeqCst);
        // Wakes the listener. The threads of connections end when the service closes them.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(listening) = self.listening.take().filter(|_| woken) {
            drop(listening.join());
        }
    }
}

impl Received {
    fn deliveries(&self) -> MutexGuard<'_, Vec<Delivery>> {
        self.deliveries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn listen(listener: &TcpListener, state: &Arc<Received>) {
    for stream in listener.incoming().flatten() {
        if state.is_closed.load(Ordering::SeqCst) {
            return;
        }
        let state = Arc::clone(state);
        if let Err(cause) = thread("connection", move || serve(stream, &state)) {
            eprintln!("a receiver cannot take a connection: {cause}");
        }
    }
}

/// Serves a connection until it ends, cleanly or not.
fn serve(mut stream: TcpStream, state: &Received) {
    let mut buffer = Vec::new();
    if stream.set_nodelay(true).is_err() {
        return;
    }
    while let Ok(Some(message)) = wire::read(&mut stream, &mut buffer) {
        if state.manner == Manner::Hangs {
            continue;
        }
        let delivery = Delivery { first_byte: message.first_byte, body: message.body.to_vec() };
        state.deliveries().push(delivery);
        if stream.write_all(CONFIRMATION).is_err() {
            return;
        }
    }
}

fn thread(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work)
}
