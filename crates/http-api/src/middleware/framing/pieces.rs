//! Reads requests whose bytes arrive in pieces, for tests and fuzzing.

use tokio::io::ReadBuf;

use super::receive_buffer::ReceiveBuffer;
use super::{FrameAction, Framing, FramingError};

/// Parses bytes that arrive in these pieces. Returns the number of accepted heads, the accepted bytes, and the error.
pub(crate) fn read_pieces(pieces: &[&[u8]]) -> (usize, Vec<u8>, Option<FramingError>) {
    let mut framing = Framing::new();
    let (mut pending, mut heads, mut passed) = (Vec::new(), 0, Vec::new());
    for piece in pieces {
        pending.extend_from_slice(piece);
        loop {
            let is_head = framing.is_in_head();
            match framing.examine_bytes(&pending) {
                Ok(FrameAction::Head(count, head)) => {
                    assert!(is_head);
                    heads += 1;
                    let mut buffer = ReceiveBuffer::default();
                    buffer.push_bytes(&pending);
                    buffer.approve_with_cuts(count, &head.cuts);
                    let mut out = vec![0; count];
                    let mut out = ReadBuf::new(&mut out);
                    buffer.copy_approved(&mut out);
                    passed.extend_from_slice(out.filled());
                    assert_eq!(Some(buffer.pending_bytes()), pending.get(count..));
                    pending.drain(..count);
                }
                Ok(FrameAction::Pass(count)) => passed.extend(pending.drain(..count)),
                Ok(FrameAction::Skip(count)) => drop(pending.drain(..count)),
                Ok(FrameAction::More) => break,
                Err(error) => return (heads, passed, Some(error)),
            }
        }
    }
    (heads, passed, None)
}
