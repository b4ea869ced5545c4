//! Finds the end of a request body.

use super::head::{Head, is_text};
use super::{At, Judged, Refusal, fields};
use guerdon_domain::values::fit;

/// The largest chunk, which is the largest body that the service accepts.
const CHUNK_SIZE_MAX: usize = 1 << 20;
const SIZE_DIGITS_MAX: usize = 16;
/// The most bytes of all chunk extensions and trailers of a body.
const EXTRAS_BYTES_MAX: usize = 8 << 10;

/// Examines the bytes of a body with a length, of which `left` bytes are missing.
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

/// A partly read chunked body.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    at: Place,
    /// How many bytes were removed.
    extras: usize,
}

/// The position within a chunked body.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Within the size of a chunk.
    Size { digits: usize, size: usize },
    /// After the size, before a semicolon.
    Blank { size: usize },
    /// Within a chunk extension, with or without text after its semicolon.
    Extension { size: usize, is_named: bool },
    /// Before the line feed after a size.
    SizeEnd { size: usize },
    /// Within a chunk, this many bytes before its end.
    Data { left: usize },
    /// After a chunk, before its carriage return.
    DataReturn,
    /// After a chunk, before its line feed.
    DataFeed,
    /// After the last chunk or a trailer, before the last carriage return or another trailer.
    LastReturn,
    /// Within the name of a trailer.
    TrailerName,
    /// Within the value of a trailer.
    TrailerValue,
    /// Before the line feed of a trailer.
    TrailerFeed,
    /// Before the last line feed.
    LastFeed,
}

impl Default for Place {
    fn default() -> Self {
        Self::Size { digits: 0, size: 0 }
    }
}

impl Chunks {
    /// Examines the longest prefix that is passed on or removed as a whole, up to the end of the body.
    pub(super) fn judge(&mut self, bytes: &[u8]) -> Result<(Judged, Option<At>), Refusal> {
        let (mut at, mut passes) = (0, true);
        while let Some(&byte) = bytes.get(at) {
            if let Place::Data { left } = &mut self.at {
                if !passes {
                    break;
                }
                let there = (*left).min(bytes.len() - at);
                at += there;
                *left -= there;
                if *left == 0 {
                    self.at = Place::DataReturn;
                }
                continue;
            }
            let next = self.at.step(byte)?;
            let is_extra = self.at.is_extra(next);
            if at == 0 {
                passes = !is_extra;
            } else if passes == is_extra {
                break;
            }
            at += 1;
            if matches!(self.at, Place::LastFeed) {
                return Ok((Judged::Pass(at), Some(after())));
            }
            self.at = next;
        }
        if passes {
            return Ok((if at == 0 { Judged::More } else { Judged::Pass(at) }, None));
        }
        self.extras += at;
        if self.extras > EXTRAS_BYTES_MAX { Err(Refusal::Extras) } else { Ok((Judged::Skip(at), None)) }
    }
}

impl Place {
    /// Whether the byte between two positions is part of an extension or a trailer.
    fn is_extra(self, next: Self) -> bool {
        matches!(next, Self::Blank { .. } | Self::Extension { .. })
            || matches!(next, Self::TrailerName | Self::TrailerValue | Self::TrailerFeed)
            || matches!(self, Self::TrailerFeed)
    }

    /// The position after a byte outside the data of a chunk.
    fn step(self, byte: u8) -> Result<Self, Refusal> {
        match (self, byte) {
            (Self::Size { digits: 1.., size }, b'\r') => Ok(Self::SizeEnd { size }),
            (Self::Size { digits: 1.., size } | Self::Blank { size }, b' ' | b'\t') => {
                Ok(Self::Blank { size })
            }
            (Self::Size { digits: 1.., size } | Self::Blank { size }, b';') => {
                Ok(Self::Extension { size, is_named: false })
            }
            (Self::Size { digits, size }, _) => Self::digit(digits, size, byte),
            (Self::Extension { size, is_named: true }, b'\r') => Ok(Self::SizeEnd { size }),
            (Self::Extension { size, is_named }, _) if is_text(byte) => {
                Ok(Self::Extension { size, is_named: is_named || fields::is_token(&[byte]) })
            }
            (Self::SizeEnd { size: 0 }, b'\n') => Ok(Self::LastReturn),
            (Self::SizeEnd { size }, b'\n') => Ok(Self::Data { left: size }),
            (Self::DataReturn, b'\r') => Ok(Self::DataFeed),
            (Self::DataFeed, b'\n') => Ok(Self::default()),
            (Self::LastReturn, b'\r') => Ok(Self::LastFeed),
            (Self::LastReturn | Self::TrailerName, _) if fields::is_token(&[byte]) => Ok(Self::TrailerName),
            (Self::TrailerName, b':') => Ok(Self::TrailerValue),
            (Self::TrailerValue, b'\r') => Ok(Self::TrailerFeed),
            (Self::TrailerValue, _) if is_text(byte) => Ok(Self::TrailerValue),
            (Self::TrailerFeed, b'\n') => Ok(Self::LastReturn),
            (Self::LastFeed, b'\n') => Ok(Self::LastFeed),
            _ => Err(Refusal::Chunk),
        }
    }

    fn digit(digits: usize, size: usize, byte: u8) -> Result<Self, Refusal> {
        let digit = char::from(byte).to_digit(16).and_then(|digit| usize::try_from(digit).ok());
        let digit = digit.ok_or(Refusal::Chunk)?;
        // This cannot overflow, because the size was checked after the previous digit.
        let size = size * 16 + digit;
        if size > CHUNK_SIZE_MAX || digits == SIZE_DIGITS_MAX {
            return Err(Refusal::ChunkSize);
        }
        Ok(Self::Size { digits: digits + 1, size })
    }
}
