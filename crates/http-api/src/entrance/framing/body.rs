//! Where a body ends.

use super::head::Head;
use super::{At, Judged, Refusal};
use guerdon_domain::values::fit;

/// A larger chunk cannot be part of a body that is accepted.
const CHUNK_SIZE_MAX: usize = 1 << 20;
const SIZE_DIGITS_MAX: usize = 16;

/// In a body of which `left` bytes are to come.
pub(super) fn counted(left: &mut u64, bytes: &[u8]) -> (Judged, Option<At>) {
    let there = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    if there == 0 {
        return (Judged::More, None);
    }
    *left -= fit::<u64, _>(there);
    (Judged::Pass(there), (*left == 0).then(after))
}

fn after() -> At {
    At::Head(Head::default())
}

/// Where in a chunked body its bytes stand.
#[derive(Debug)]
pub(super) enum Chunks {
    /// In the size of a chunk.
    Size { digits: usize, size: usize },
    /// Before the line feed behind a size.
    SizeEnd { size: usize },
    /// In a chunk, this many bytes before its end.
    Data { left: usize },
    /// Behind a chunk, before its carriage return.
    DataReturn,
    /// Behind a chunk, before its line feed.
    DataFeed,
    /// Behind the last chunk, before the last carriage return.
    LastReturn,
    /// Before the last line feed.
    LastFeed,
}

impl Default for Chunks {
    fn default() -> Self {
        Self::Size { digits: 0, size: 0 }
    }
}

impl Chunks {
    /// Judges all of the bytes, or those up to the body's end.
    pub(super) fn judge(&mut self, bytes: &[u8]) -> Result<(Judged, Option<At>), Refusal> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if let Self::Data { left } = self {
                let there = (*left).min(bytes.len() - at);
                at += there;
                *left -= there;
                if *left == 0 {
                    *self = Self::DataReturn;
                }
                continue;
            }
            at += 1;
            if matches!(self, Self::LastFeed) && byte == b'\n' {
                return Ok((Judged::Pass(at), Some(after())));
            }
            *self = self.step(byte)?;
        }
        Ok((if at == 0 { Judged::More } else { Judged::Pass(at) }, None))
    }

    /// One byte outside a chunk's data.
    fn step(&self, byte: u8) -> Result<Self, Refusal> {
        match (self, byte) {
            (Self::Size { digits: 1.., size }, b'\r') => Ok(Self::SizeEnd { size: *size }),
            (Self::Size { digits, size }, _) => Self::digit(*digits, *size, byte),
            (Self::SizeEnd { size: 0 }, b'\n') => Ok(Self::LastReturn),
            (Self::SizeEnd { size }, b'\n') => Ok(Self::Data { left: *size }),
            (Self::DataReturn, b'\r') => Ok(Self::DataFeed),
            (Self::DataFeed, b'\n') => Ok(Self::default()),
            (Self::LastReturn, b'\r') => Ok(Self::LastFeed),
            _ => Err(Refusal::Chunk),
        }
    }

    fn digit(digits: usize, size: usize, byte: u8) -> Result<Self, Refusal> {
        let digit = char::from(byte).to_digit(16).and_then(|it| usize::try_from(it).ok());
        let digit = digit.ok_or(Refusal::Chunk)?;
        // Neither factor can be large: the size was bounded one digit ago.
        let size = size * 16 + digit;
        if size > CHUNK_SIZE_MAX || digits == SIZE_DIGITS_MAX {
            return Err(Refusal::ChunkSize);
        }
        Ok(Self::Size { digits: digits + 1, size })
    }
}
