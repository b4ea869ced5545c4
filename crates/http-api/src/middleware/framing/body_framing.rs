//! Finds the end of a request body.

use guerdon_domain::values::checked_cast;

use super::header_fields::is_text;
use super::{FrameAction, Framing, FramingError, header_fields};

/// The maximum size of a chunk, which equals the maximum size of a body.
const CHUNK_SIZE_MAX: usize = 1 << 20;
const SIZE_DIGITS_MAX: usize = 16;
/// The maximum number of bytes that all chunk extensions and trailers of a body have together.
const EXTRAS_BYTES_MAX: usize = 8 << 10;

/// Examines the next bytes of a body with `Content-Length`; `left` bytes of the body have not been examined yet.
pub(super) fn examine_sized_body(left: &mut u64, bytes: &[u8]) -> (FrameAction, Option<Framing>) {
    let available = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    if available == 0 {
        return (FrameAction::More, None);
    }
    *left -= checked_cast::<u64, _>(available);
    (FrameAction::Pass(available), (*left == 0).then(Framing::new))
}

/// Finds the end of a chunked body.
#[derive(Debug, Default)]
pub(super) struct ChunkDecoder {
    position: ChunkPosition,
    /// The number of bytes of extensions and trailers that were removed so far.
    extras: usize,
}

/// The position within a chunked body.
#[derive(Debug, Clone, Copy)]
enum ChunkPosition {
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

impl Default for ChunkPosition {
    fn default() -> Self {
        Self::Size { digits: 0, size: 0 }
    }
}

impl ChunkDecoder {
    /// Examines the longest prefix of `bytes` that is either passed on or removed as a whole. The prefix does not
    /// extend beyond the end of the body.
    pub(super) fn examine_bytes(
        &mut self,
        bytes: &[u8],
    ) -> Result<(FrameAction, Option<Framing>), FramingError> {
        let (mut at, mut passes) = (0, true);
        while let Some(&byte) = bytes.get(at) {
            if let ChunkPosition::Data { left } = &mut self.position {
                if !passes {
                    break;
                }
                let available = (*left).min(bytes.len() - at);
                at += available;
                *left -= available;
                if *left == 0 {
                    self.position = ChunkPosition::DataReturn;
                }
                continue;
            }
            let next = self.position.after_byte(byte)?;
            let is_extra = self.position.is_extra(next);
            if at == 0 {
                passes = !is_extra;
            } else if passes == is_extra {
                break;
            }
            at += 1;
            if matches!(self.position, ChunkPosition::LastFeed) {
                return Ok((FrameAction::Pass(at), Some(Framing::new())));
            }
            self.position = next;
        }
        if passes {
            return Ok((if at == 0 { FrameAction::More } else { FrameAction::Pass(at) }, None));
        }
        self.extras += at;
        if self.extras > EXTRAS_BYTES_MAX {
            Err(FramingError::Extras)
        } else {
            Ok((FrameAction::Skip(at), None))
        }
    }
}

impl ChunkPosition {
    /// Whether the byte between two positions is part of an extension or a trailer.
    fn is_extra(self, next: Self) -> bool {
        matches!(next, Self::Blank { .. } | Self::Extension { .. })
            || matches!(next, Self::TrailerName | Self::TrailerValue | Self::TrailerFeed)
            || matches!(self, Self::TrailerFeed)
    }

    /// The position after a byte outside the data of a chunk.
    fn after_byte(self, byte: u8) -> Result<Self, FramingError> {
        match (self, byte) {
            (Self::Size { digits: 1.., size }, b'\r') => Ok(Self::SizeEnd { size }),
            (Self::Size { digits: 1.., size } | Self::Blank { size }, b' ' | b'\t') => {
                Ok(Self::Blank { size })
            }
            (Self::Size { digits: 1.., size } | Self::Blank { size }, b';') => {
                Ok(Self::Extension { size, is_named: false })
            }
            (Self::Size { digits, size }, _) => Self::parse_size_digit(digits, size, byte),
            (Self::Extension { size, is_named: true }, b'\r') => Ok(Self::SizeEnd { size }),
            (Self::Extension { size, is_named }, _) if is_text(byte) => {
                Ok(Self::Extension { size, is_named: is_named || header_fields::is_token(&[byte]) })
            }
            (Self::SizeEnd { size: 0 }, b'\n') => Ok(Self::LastReturn),
            (Self::SizeEnd { size }, b'\n') => Ok(Self::Data { left: size }),
            (Self::DataReturn, b'\r') => Ok(Self::DataFeed),
            (Self::DataFeed, b'\n') => Ok(Self::default()),
            (Self::LastReturn, b'\r') => Ok(Self::LastFeed),
            (Self::LastReturn | Self::TrailerName, _) if header_fields::is_token(&[byte]) => {
                Ok(Self::TrailerName)
            }
            (Self::TrailerName, b':') => Ok(Self::TrailerValue),
            (Self::TrailerValue, b'\r') => Ok(Self::TrailerFeed),
            (Self::TrailerValue, _) if is_text(byte) => Ok(Self::TrailerValue),
            (Self::TrailerFeed, b'\n') => Ok(Self::LastReturn),
            (Self::LastFeed, b'\n') => Ok(Self::LastFeed),
            _ => Err(FramingError::Chunk),
        }
    }

    fn parse_size_digit(digits: usize, size: usize, byte: u8) -> Result<Self, FramingError> {
        let digit = char::from(byte).to_digit(16).and_then(|digit| usize::try_from(digit).ok());
        let digit = digit.ok_or(FramingError::Chunk)?;
        // This cannot overflow, because the size was checked after the previous digit.
        let size = size * 16 + digit;
        if size > CHUNK_SIZE_MAX || digits == SIZE_DIGITS_MAX {
            return Err(FramingError::ChunkSize);
        }
        Ok(Self::Size { digits: digits + 1, size })
    }
}
