mod room;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::runtime::Builder;
use tokio::time::{Instant, timeout};

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const POST: &[u8] = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";

/// Runs a test with a client and the stream as the parser sees it. The clock is paused and skips every wait.
fn with_connection<F: Future<Output = ()>>(test: impl FnOnce(DuplexStream, StrictStream<DuplexStream>) -> F) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (client, server) = duplex(64 << 10);
    let render_error = |error, head: &[u8]| format!("{error:?} {}", head.starts_with(b"HEAD ")).into_bytes();
    runtime.block_on(test(client, strict_stream(server, render_error)));
}

fn strict_stream<IO: AsyncRead + AsyncWrite + Unpin>(
    io: IO,
    render_error: impl Fn(FramingError, &[u8]) -> Vec<u8> + 'static,
) -> StrictStream<IO> {
    StrictStream::new(io, Rc::default(), Duration::from_secs(75), Rc::new(render_error))
}

/// Checks that a head is refused: the parser sees the end of the stream, and the client gets the expected response.
/// Returns the seconds that this took.
async fn assert_refused(stream: &mut StrictStream<DuplexStream>, expected: &str) -> u64 {
    let (bytes, seconds) = read_next(stream).await;
    assert_eq!((bytes, String::from_utf8_lossy(&stream.final_response).as_ref()), (Vec::new(), expected));
    seconds
}

/// Returns the next bytes that the parser receives, and after how many seconds.
async fn read_next<IO: AsyncRead + AsyncWrite + Unpin>(stream: &mut StrictStream<IO>) -> (Vec<u8>, u64) {
    let (began, mut bytes) = (Instant::now(), vec![0; 64 << 10]);
    let count = stream.read(&mut bytes).await.unwrap();
    bytes.truncate(count);
    (bytes, began.elapsed().as_secs())
}

async fn is_silent(stream: &mut StrictStream<DuplexStream>) -> bool {
    timeout(Duration::from_secs(70), read_next(stream)).await.is_err()
}

#[test]
fn a_client_that_sends_nothing_is_disconnected_after_five_seconds() {
    with_connection(|client, mut stream| async move {
        assert_eq!(read_next(&mut stream).await, (Vec::new(), 5));
        assert!(stream.final_response.is_empty());
        drop(client);
    });
}

#[test]
fn each_head_must_arrive_within_five_seconds_of_its_first_byte() {
    with_connection(|mut client, mut stream| async move {
        client.write_all(GET).await.unwrap();
        assert_eq!(read_next(&mut stream).await, (GET.to_vec(), 0));
        stream.connection().mark_trusted();
        stream.connection().finish_response(false);
        assert!(is_silent(&mut stream).await, "between requests a client may take its time");
        for &byte in &GET[..10] {
            client.write_all(&[byte]).await.unwrap();
            assert!(timeout(Duration::from_millis(400), read_next(&mut stream)).await.is_err());
        }
        assert_eq!(assert_refused(&mut stream, "SlowHead false").await, 1);
    });
}

#[test]
fn the_time_of_a_head_begins_with_its_first_byte_on_a_connection_without_credentials() {
    with_connection(|mut client, mut stream| async move {
        client.write_all(GET).await.unwrap();
        assert_eq!(read_next(&mut stream).await.0, GET);
        stream.connection().finish_response(false);
        assert!(timeout(Duration::from_secs(4), read_next(&mut stream)).await.is_err());
        client.write_all(&GET[..10]).await.unwrap();
        assert!(timeout(Duration::from_secs(4), read_next(&mut stream)).await.is_err());
        client.write_all(&GET[10..]).await.unwrap();
        assert_eq!(read_next(&mut stream).await.0, GET);
    });
}

#[test]
fn a_body_must_arrive_within_ten_seconds() {
    with_connection(|mut client, mut stream| async move {
        client.write_all(POST).await.unwrap();
        assert_eq!(read_next(&mut stream).await, (POST.to_vec(), 0));
        for _ in 0..4 {
            assert!(timeout(Duration::from_secs(2), read_next(&mut stream)).await.is_err());
            client.write_all(b"x").await.unwrap();
            assert_eq!(read_next(&mut stream).await.0, b"x");
        }
        assert_eq!(read_next(&mut stream).await, (Vec::new(), 2));
        assert_eq!(
            stream.body_failure().fault().map(|fault| fault.reason),
            Some(FramingError::SlowBody.message())
        );
    });
}

#[test]
fn a_request_waits_until_the_previous_one_has_its_response() {
    with_connection(|mut client, mut stream| async move {
        client.write_all(&[POST, b"012345678", GET, b"garbage\n"].concat()).await.unwrap();
        assert_eq!(read_next(&mut stream).await.0, POST);
        assert_eq!(read_next(&mut stream).await.0, b"012345678");
        assert!(is_silent(&mut stream).await);
        stream.connection().finish_response(false);
        assert_eq!(read_next(&mut stream).await.0, GET);
        assert!(is_silent(&mut stream).await);
        assert!(stream.final_response.is_empty(), "the next request does not affect this one");
        stream.connection().finish_response(false);
        assert_refused(&mut stream, "LineEnd false").await;
    });
}

#[test]
fn a_response_wakes_a_reader_that_holds_back_a_request() {
    with_connection(|mut client, mut stream| async move {
        client.write_all(&[GET, GET].concat()).await.unwrap();
        assert_eq!(read_next(&mut stream).await.0, GET);
        let connection = stream.connection();
        let respond = async {
            tokio::task::yield_now().await;
            connection.finish_response(false);
        };
        let (second, ()) = futures_util::future::join(read_next(&mut stream), respond).await;
        assert_eq!(second, (GET.to_vec(), 0));
    });
}

#[test]
fn a_connection_never_used_with_valid_credentials_closes_after_five_idle_seconds() {
    with_connection(|mut client, mut stream| async move {
        client.write_all(GET).await.unwrap();
        assert_eq!(read_next(&mut stream).await, (GET.to_vec(), 0));
        assert!(is_silent(&mut stream).await, "its request has no response yet");
        stream.connection().finish_response(false);
        assert_eq!(read_next(&mut stream).await, (Vec::new(), 5));
        assert!(stream.final_response.is_empty());
    });
}

#[test]
fn the_parser_of_a_trusted_connection_ends_after_one_idle_second_and_the_stream_after_the_keep_alive() {
    with_connection(|mut client, mut stream| async move {
        client.write_all(GET).await.unwrap();
        assert_eq!(read_next(&mut stream).await, (GET.to_vec(), 0));
        let connection = stream.connection();
        connection.mark_trusted();
        connection.finish_response(false);
        stream.set_has_parser(true);
        assert_eq!(read_next(&mut stream).await, (Vec::new(), 1));
        assert!(stream.is_idle(), "only the parser ends");
        client.write_all(GET).await.unwrap();
        assert_eq!(read_next(&mut stream).await, (GET.to_vec(), 0));
        connection.finish_response(false);
        stream.set_has_parser(false);
        assert_eq!(read_next(&mut stream).await, (Vec::new(), 75));
    });
}

#[test]
fn a_client_gets_100_continue_when_the_request_reads_the_body() {
    with_connection(|mut client, mut stream| async move {
        let head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
        client.write_all(head).await.unwrap();
        let passed = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(read_next(&mut stream).await.0, passed);
        let connection = stream.connection();
        assert!(connection.awaits_continue());
        tokio::time::sleep(Duration::from_secs(1)).await;
        connection.request_body_part();
        stream.flush().await.unwrap();
        let client_sends = async {
            let mut received = [0; 64];
            let count = client.read(&mut received).await.unwrap();
            assert_eq!(&received[..count], b"HTTP/1.1 100 Continue\r\n\r\n");
            client.write_all(b"abc").await.unwrap();
        };
        let (body, ()) = futures_util::future::join(read_next(&mut stream), client_sends).await;
        assert_eq!(body, (b"abc".to_vec(), 0));
        assert!(!connection.awaits_continue());
    });
}

#[test]
fn nothing_is_read_after_the_last_response() {
    for sent in [&[GET, GET].concat(), &[POST, b"012"].concat()] {
        with_connection(|mut client, mut stream| async move {
            client.write_all(sent).await.unwrap();
            assert!(!read_next(&mut stream).await.0.is_empty());
            stream.connection().finish_response(true);
            assert_eq!(read_next(&mut stream).await, (Vec::new(), 0));
        });
    }
}

#[test]
fn a_refused_body_ends_early_for_the_parser() {
    with_connection(|mut client, mut stream| async move {
        let head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        client.write_all(&[head, &b"g\r\nabc\r\n0\r\n\r\n"[..], GET].concat()).await.unwrap();
        assert_eq!(read_next(&mut stream).await.0, head);
        assert_eq!(read_next(&mut stream).await, (Vec::new(), 0));
        assert_eq!(
            stream.body_failure().fault().map(|fault| fault.reason),
            Some(FramingError::Chunk.message())
        );
        assert!(stream.final_response.is_empty(), "the reader of the body responds");
    });
}

#[test]
fn a_partial_request_is_refused_and_an_empty_one_ends_the_stream() {
    for (sent, expected) in
        [(&b""[..], ""), (b"GET / HT", "Incomplete false"), (b"HEAD / HT", "Incomplete true")]
    {
        with_connection(|mut client, mut stream| async move {
            client.write_all(sent).await.unwrap();
            client.shutdown().await.unwrap();
            assert_refused(&mut stream, expected).await;
        });
    }
}

#[test]
fn a_client_that_reads_nothing_is_disconnected_after_thirty_seconds() {
    with_connection(|client, mut stream| async move {
        let began = Instant::now();
        let error = stream.write_all(&vec![0; 1 << 20]).await.unwrap_err();
        assert_eq!((error.kind(), began.elapsed().as_secs()), (io::ErrorKind::TimedOut, 30));
        drop(client);
    });
}

#[test]
fn a_slow_but_steady_reader_gets_everything_and_a_stalled_one_is_disconnected() {
    for (at_a_time, is_served) in [(16 << 10, true), (12 << 10, false)] {
        with_connection(|mut client, mut stream| async move {
            let all = vec![7; 4 << 20];
            let length = all.len();
            let reading = async move {
                let (mut some, mut left) = (vec![0; at_a_time], length);
                while left > 0 {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    match client.read(&mut some).await {
                        Ok(count) if count > 0 => left -= count,
                        _ => return false,
                    }
                }
                true
            };
            let writing = async move {
                let written = stream.write_all(&all).await;
                written.is_ok() && stream.flush().await.is_ok()
            };
            assert_eq!(futures_util::future::join(reading, writing).await, (is_served, is_served));
        });
    }
}

#[test]
fn bytes_after_a_refused_request_are_drained_for_at_most_a_second() {
    for (more, seconds) in [(&b""[..], 0), (b"garbage\n", 1)] {
        with_connection(|mut client, mut stream| async move {
            client.write_all(&[GET, more].concat()).await.unwrap();
            assert_eq!(read_next(&mut stream).await.0, GET);
            stream.connection().finish_response(false);
            if !more.is_empty() {
                assert_refused(&mut stream, "LineEnd false").await;
            }
            let began = Instant::now();
            stream.shutdown().await.unwrap();
            assert_eq!(began.elapsed().as_secs(), seconds);
            drop(stream);
            let mut received = Vec::new();
            client.read_to_end(&mut received).await.unwrap();
            assert_eq!(received, if more.is_empty() { &b""[..] } else { b"LineEnd false" });
        });
    }
}

/// A TLS stream whose client ends the TCP connection without a TLS close notification.
struct UnannouncedEnd(DuplexStream);

impl AsyncRead for UnannouncedEnd {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = out.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(context, out))?;
        let is_end = out.filled().len() == before;
        Poll::Ready(if is_end { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) })
    }
}

impl AsyncWrite for UnannouncedEnd {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[test]
fn the_end_of_tcp_without_a_tls_close_counts_as_the_end() {
    for (sent, expected) in [(GET.to_vec(), ""), ([GET, b"GET /"].concat(), "Incomplete false")] {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = duplex(64 << 10);
            let render_error =
                |error, head: &[u8]| format!("{error:?} {}", head.starts_with(b"HEAD ")).into_bytes();
            let mut stream = strict_stream(UnannouncedEnd(server), render_error);
            client.write_all(&sent).await.unwrap();
            client.shutdown().await.unwrap();
            let mut bytes = vec![0; 1 << 10];
            let count = stream.read(&mut bytes).await.unwrap();
            assert_eq!(&bytes[..count], GET);
            stream.connection().finish_response(false);
            assert_eq!(stream.read(&mut bytes).await.unwrap(), 0);
            assert_eq!(String::from_utf8_lossy(&stream.final_response), expected);
        });
    }
}

#[test]
fn the_end_of_the_stream_is_passed_on_after_the_response() {
    with_connection(|mut client, mut stream| async move {
        client.write_all(&[POST, b"012345678"].concat()).await.unwrap();
        client.shutdown().await.unwrap();
        assert_eq!(read_next(&mut stream).await.0, POST);
        assert_eq!(read_next(&mut stream).await.0, b"012345678");
        assert!(is_silent(&mut stream).await);
        stream.connection().finish_response(false);
        assert_eq!(read_next(&mut stream).await, (Vec::new(), 0));
        assert!(stream.final_response.is_empty());
    });
}

#[test]
fn a_body_is_passed_on_as_far_as_the_request_reads_it() {
    with_connection(|mut client, mut stream| async move {
        let body = vec![7; 15_000];
        let head = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
        client.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
        assert_eq!(read_next(&mut stream).await.0, head.as_bytes());
        let mut passed = read_next(&mut stream).await.0.len();
        while passed < body.len() {
            assert!(is_silent(&mut stream).await, "the request has not asked for more");
            stream.connection().request_body_part();
            let (part, seconds) = read_next(&mut stream).await;
            assert!((1..=6 << 10).contains(&part.len()) && seconds == 0, "{}", part.len());
            passed += part.len();
        }
        assert_eq!(passed, body.len());
    });
}

#[test]
fn an_interim_response_waits_until_the_previous_response_is_written() {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (mut client, server) = duplex(64);
        let mut stream = strict_stream(server, |_, _| Vec::new());
        let head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
        let (sent, passed) = futures_util::future::join(client.write_all(head), read_next(&mut stream)).await;
        assert!(sent.is_ok() && !passed.0.is_empty());
        let mut before = &[b'x'; 100][..];
        assert_eq!(stream.write(before).await.unwrap(), 64);
        before = &before[64..];
        stream.connection().request_body_part();
        assert!(timeout(Duration::from_secs(1), read_next(&mut stream)).await.is_err());
        let serve = async {
            stream.write_all(before).await.unwrap();
            stream.flush().await.unwrap();
        };
        let mut received = [0; 125];
        let (received, ()) = futures_util::future::join(
            async {
                client.read_exact(&mut received).await.unwrap();
                String::from_utf8_lossy(&received).into_owned()
            },
            serve,
        )
        .await;
        assert_eq!(received, format!("{}HTTP/1.1 100 Continue\r\n\r\n", "x".repeat(100)));
    });
}

#[test]
fn a_client_whose_request_has_its_response_gets_no_100_continue() {
    with_connection(|mut client, mut stream| async move {
        let head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
        client.write_all(head).await.unwrap();
        read_next(&mut stream).await;
        stream.connection().request_body_part();
        stream.connection().finish_response(true);
        stream.write_all(b"refused").await.unwrap();
        stream.flush().await.unwrap();
        drop(stream);
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, b"refused");
    });
}

#[test]
fn a_client_that_sends_the_body_immediately_gets_no_100_continue() {
    with_connection(|mut client, mut stream| async move {
        let head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
        client.write_all(&[&head[..], b"abc"].concat()).await.unwrap();
        read_next(&mut stream).await;
        assert_eq!(read_next(&mut stream).await.0, b"abc");
        assert!(!stream.connection().awaits_continue());
    });
}
