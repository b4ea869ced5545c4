//! Why something is no request that is served here.

/// What is wrong with what came on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A line that ends in a bare line feed, or a carriage return that ends none.
    LineEnd,
    /// A control character in the head.
    Control,
    /// A request line that is none.
    RequestLine,
    /// A target that is no path.
    Target,
    /// A header that is none, or goes on in a second line.
    Header,
    /// A head, or a target, that is too long.
    HeadSize,
    /// No host, two of them, or something that is none.
    Host,
    /// A `Content-Length` that is no number, stands twice, or is lacking.
    Length,
    /// A `Transfer-Encoding` that is not `chunked`, stands twice, or stands where it must not.
    Encoding,
    /// A chunk with a wrong size line or end, or a trailer that is none.
    Chunk,
    /// Extensions of chunks, or trailers, that are too long.
    Extras,
    /// A chunk larger than a body may be.
    ChunkSize,
    /// A head that took too long.
    SlowHead,
    /// A body that took too long.
    SlowBody,
    /// An end in the middle.
    Incomplete,
    /// Too much is held of what clients sent before any right credentials were seen.
    NoRoom,
}

impl Refusal {
    /// What the client is told.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::LineEnd => "the lines of a request's head must end in CR LF",
            Self::Control => "a request's head must hold no control characters",
            Self::RequestLine => "a request must begin with a method, a path and HTTP/1.1",
            Self::Target => {
                "the request's target must be a percent-encoded path that begins with /, or an http address"
            }
            Self::Header => "a header must be a name, a colon and a value in one line",
            Self::HeadSize => {
                "a request's head must have at most 32 KiB, 96 headers and 8 KiB of path and query"
            }
            Self::Host => "Host must be sent once and name a host",
            Self::Length => "Content-Length must be sent at most once and be a number",
            Self::Encoding => {
                "Transfer-Encoding must be chunked alone, in HTTP/1.1, and without Content-Length"
            }
            Self::Chunk => {
                "a chunk must be its size in hexadecimal digits, its extensions, and its bytes; trailers are headers"
            }
            Self::Extras => "extensions of chunks and trailers must have at most 8 KiB",
            Self::ChunkSize => "the body must be at most 1 MiB",
            Self::SlowHead => "a request's head must be sent within 5 seconds",
            Self::SlowBody => "the body must be sent within 10 seconds",
            Self::Incomplete => "a request must be sent completely",
            Self::NoRoom => "the service is busy",
        }
    }

    /// Whether the same request may be served later.
    pub(crate) fn is_for_now(self) -> bool {
        matches!(self, Self::NoRoom)
    }
}
