//! What the machine does where the service does nothing.

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::figures::per_second;
use super::https::Https;
use super::wire;

/// As much as a small transaction writes to a log.
const BLOCK: [u8; 4096] = [0x5e; 4096];
const SYNC_PERIOD: Duration = Duration::from_millis(500);
const SYNC_PERIODS: usize = 4;

/// A TLS server, a thread for each connection, that answers everything with `body`. It takes `connections`, then no
/// more, and its threads end with these.
pub(super) fn static_server(https: &Https, body: &[u8], connections: usize) -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let config = Arc::new(https.server_config()?);
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(body);
    let answer: Arc<[u8]> = answer.into();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten().take(connections) {
            let (config, answer) = (Arc::clone(&config), Arc::clone(&answer));
            std::thread::spawn(move || {
                if let Err(cause) = serve(stream, config, &answer) {
                    eprintln!("the static server: {cause}");
                }
            });
        }
    });
    Ok(address)
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, answer: &[u8]) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = StreamOwned::new(ServerConnection::new(config)?, stream);
    let mut buffer = Vec::new();
    // The client goes away without a farewell, which TLS calls an error.
    while let Ok(Some(_request)) = wire::read(&mut stream, &mut buffer) {
        stream.write_all(answer)?;
        stream.flush()?;
    }
    Ok(())
}

/// How often a second 4 KiB can be appended to a file of this folder and be brought to the disk, one after the other;
/// the best of some periods, since others may use the disk too.
pub(super) fn syncs_per_second(folder: &Path) -> Result<f64> {
    let path = folder.join("ceiling");
    let mut best = 0.0_f64;
    for _ in 0..SYNC_PERIODS {
        let mut file = File::create(&path)?;
        let start = Instant::now();
        let mut count = 0_usize;
        while start.elapsed() < SYNC_PERIOD {
            file.write_all(&BLOCK)?;
            file.sync_data()?;
            count += 1;
        }
        best = best.max(per_second(count, start.elapsed()));
    }
    std::fs::remove_file(&path)?;
    Ok(best)
}
