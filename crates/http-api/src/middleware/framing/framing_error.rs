//! The errors for which `StrictStream` rejects a request.

/// Why the bytes of a connection are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FramingError {
    /// A bare line feed, or a bare carriage return.
    LineEnd,
    /// A control character in the head.
    Control,
    /// A malformed request line.
    RequestLine,
    /// A target that is not a path.
    Target,
    /// A malformed header, or a header that continues on a second line.
    Header,
    /// A head, or a target, that is too long.
    HeadSize,
    /// A missing, repeated or malformed host.
    Host,
    /// A missing, repeated or malformed `Content-Length`.
    Length,
    /// A `Transfer-Encoding` other than `chunked`, or one that is repeated or not allowed here.
    Encoding,
    /// A chunk with a malformed size line or end, or a malformed trailer.
    Chunk,
    /// Chunk extensions or trailers that are too long.
    Extras,
    /// A chunk larger than a body may be.
    ChunkSize,
    /// A head that arrived too slowly.
    SlowHead,
    /// A body that arrived too slowly.
    SlowBody,
    /// The connection ended within a request.
    Incomplete,
    /// Clients without valid credentials have used up the memory for their data.
    BudgetExceeded,
}

impl FramingError {
    /// The text of the response.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::LineEnd => "the lines of a request head must end in CR LF",
            Self::Control => "a request head must not contain control characters",
            Self::RequestLine => "a request must begin with a method, a path and HTTP/1.1",
            Self::Target => {
                "the request's target must be a percent-encoded path that begins with /, or an http address"
            }
            Self::Header => "a header must be a name, a colon and a value on one line",
            Self::HeadSize => {
                "a request head must have at most 32 KiB, 96 headers and 8 KiB of path and query"
            }
            Self::Host => "Host must be sent exactly once and contain a host name or address",
            Self::Length => "Content-Length must be sent at most once and be a number",
            Self::Encoding => {
                "Transfer-Encoding must be chunked, in HTTP/1.1 only, and must not be sent with Content-Length"
            }
            Self::Chunk => {
                "a chunk must have a hexadecimal size, optional extensions and that many bytes; a trailer must be a header"
            }
            Self::Extras => "chunk extensions and trailers must be at most 8 KiB",
            Self::ChunkSize => "the body must be at most 1 MiB",
            Self::SlowHead => "the request head must be sent within 5 seconds",
            Self::SlowBody => "the body must be sent within 10 seconds",
            Self::Incomplete => "a request must be sent completely",
            Self::BudgetExceeded => "the service is busy",
        }
    }

    /// Whether the end of a body is missing.
    pub(crate) fn is_incomplete_body(self) -> bool {
        matches!(self, Self::SlowBody | Self::Incomplete)
    }

    /// Whether the same request may succeed later.
    pub(crate) fn is_temporary(self) -> bool {
        matches!(self, Self::BudgetExceeded)
    }
}
