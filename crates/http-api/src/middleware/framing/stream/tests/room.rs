//! Connections that have reached a memory limit.

use std::cell::Cell;

use super::*;

/// A stream whose connection has reached a memory limit, unless it is trusted or `is_full` is false.
struct FullStream {
    io: DuplexStream,
    connection: Rc<Connection>,
    is_full: Rc<Cell<bool>>,
}

impl AsyncRead for FullStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_full.get() && !self.connection.is_trusted() {
            return Poll::Ready(Err(BUDGET_EXCEEDED.into()));
        }
        Pin::new(&mut self.io).poll_read(context, out)
    }
}

impl AsyncWrite for FullStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

/// Runs a test with a client that has sent a head, and a stream that has passed on the head and has no room for more
/// bytes.
fn with_full_connection<F: Future<Output = ()>>(
    head: &[u8],
    test: impl FnOnce(DuplexStream, StrictStream<FullStream>, Rc<Cell<bool>>) -> F,
) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (mut client, io) = duplex(64 << 10);
        let (connection, is_full) = (Rc::<Connection>::default(), Rc::<Cell<bool>>::default());
        let io = FullStream { io, connection: Rc::clone(&connection), is_full: Rc::clone(&is_full) };
        let render_error: ErrorRenderer =
            Rc::new(|error, head: &[u8]| format!("{error:?} {}", head.starts_with(b"HEAD ")).into_bytes());
        let mut stream = StrictStream::new(io, connection, Duration::from_secs(75), render_error);
        client.write_all(head).await.unwrap();
        assert_eq!(read_next(&mut stream).await.0, head);
        is_full.set(true);
        test(client, stream, is_full).await;
    });
}

#[test]
fn a_connection_without_room_is_not_refused_before_its_request_has_a_response() {
    with_full_connection(GET, |client, mut stream, is_full| async move {
        assert!(timeout(Duration::from_secs(70), read_next(&mut stream)).await.is_err());
        assert!(stream.final_response.is_empty());
        is_full.set(false);
        stream.connection().finish_response(false);
        assert!(timeout(Duration::from_secs(1), read_next(&mut stream)).await.is_err());
        is_full.set(true);
        assert_eq!(read_next(&mut stream).await, (Vec::new(), 0));
        assert_eq!(stream.final_response, b"BudgetExceeded false", "it is the client's turn");
        drop(client);
    });
}

#[test]
fn valid_credentials_make_room_for_the_body_of_their_own_request() {
    with_full_connection(POST, |mut client, mut stream, _| async move {
        client.write_all(b"012345678").await.unwrap();
        assert!(timeout(Duration::from_secs(1), read_next(&mut stream)).await.is_err());
        let connection = stream.connection();
        let admit = async {
            tokio::task::yield_now().await;
            connection.mark_trusted();
            connection.request_body_part();
        };
        let (body, ()) = futures_util::future::join(read_next(&mut stream), admit).await;
        assert_eq!(body, (b"012345678".to_vec(), 0));
        assert_eq!(stream.body_failure().fault().map(|fault| fault.reason), None);
    });
}

#[test]
fn a_body_without_room_is_refused_when_it_is_read_without_valid_credentials() {
    with_full_connection(POST, |mut client, mut stream, _| async move {
        client.write_all(b"012345678").await.unwrap();
        let connection = stream.connection();
        let read = async {
            tokio::task::yield_now().await;
            connection.request_body_part();
        };
        let (body, ()) = futures_util::future::join(read_next(&mut stream), read).await;
        assert_eq!(body, (Vec::new(), 0));
        assert_eq!(
            stream.body_failure().fault().map(|fault| fault.reason),
            Some(FramingError::BudgetExceeded.message())
        );
        assert!(stream.body_failure().fault().unwrap().is_temporary);
    });
}
