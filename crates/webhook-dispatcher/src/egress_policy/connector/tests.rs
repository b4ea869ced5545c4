use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, Resolver};
use ureq::unversioned::transport::time::Instant;
use ureq::unversioned::transport::{ConnectionDetails, Connector, NextTimeout};
use ureq::{Error, Timeout};

use super::{EgressConnector, EgressDenied, EgressTransport};

/// Connects to one of these addresses within `timeout`.
fn connect(
    connector: &EgressConnector,
    peers: &[SocketAddr],
    timeout: Duration,
) -> Result<Option<EgressTransport>, Error> {
    let (config, resolver) = (Config::default(), DefaultResolver::default());
    let mut addrs = resolver.empty();
    peers.iter().for_each(|peer| addrs.push(*peer));
    let details = ConnectionDetails {
        uri: &Uri::from_static("http://receiver.example/"),
        addrs,
        config: &config,
        request_level: false,
        resolver: &resolver,
        now: Instant::now(),
        timeout: NextTimeout { after: timeout.into(), reason: Timeout::Connect, ..NextTimeout::default() },
        current_time: Arc::new(Instant::now),
        run_connector: Arc::new(|_| unreachable!()),
        register_shutdown: Arc::new(|_| Ok(())),
    };
    connector.connect(&details, None)
}

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn only_public_addresses_are_connected_to_unless_others_are_allowed() {
    let (listener, address) = listen();
    listener.set_nonblocking(true).unwrap();
    let minute = Duration::from_secs(60);
    let Err(Error::Other(cause)) = connect(&EgressConnector::new(false), &[address], minute) else {
        panic!("the address is not public");
    };
    assert_eq!(cause.downcast_ref(), Some(&EgressDenied::NotPublic(address.ip())));
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);

    let connected = connect(&EgressConnector::new(true), &[address], minute).unwrap();
    assert_eq!(connected.unwrap().peer, address);
}

/// On Linux, a listener whose queue is full ignores further connections.
#[cfg(target_os = "linux")]
#[test]
fn an_address_that_does_not_respond_gets_only_its_share_of_the_time() {
    let ((busy, unresponsive), (_listener, responsive)) = (listen(), listen());
    rustix::net::listen(&busy, 0).unwrap();
    let _queued = TcpStream::connect(unresponsive).unwrap();
    let peers: Vec<_> = std::iter::once(unresponsive).chain([responsive; 15]).collect();
    let connected = connect(&EgressConnector::new(true), &peers, Duration::from_secs(4)).unwrap();
    assert_eq!(connected.unwrap().peer, responsive);
}
