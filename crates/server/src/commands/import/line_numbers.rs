//! The number of the line in which a record begins.

/// Finds the line in which a record begins. `csv::Position::line` is not suitable: with CRLF and after empty lines, it
/// returns the line in which the previous record ended.
pub(super) struct LineNumbers<'a> {
    text: &'a [u8],
    /// The number of bytes in which the line ends have been counted so far.
    counted_bytes: usize,
    /// The line of the next byte, starting at 1.
    line: usize,
}

impl<'a> LineNumbers<'a> {
    pub(super) fn for_text(text: &'a str) -> Self {
        Self { text: text.as_bytes(), counted_bytes: 0, line: 1 }
    }

    /// Returns the position and the line of the first byte at or after position `byte` that is not part of a line end.
    /// `byte` must not be smaller than in the previous call.
    pub(super) fn find_line_start(&mut self, byte: u64) -> (usize, usize) {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        while let Some(current) = self.text.get(self.counted_bytes) {
            let ends_line = matches!(current, b'\n' | b'\r');
            if self.counted_bytes >= byte && !ends_line {
                break;
            }
            self.counted_bytes += 1;
            let is_half_of_crlf = *current == b'\r' && self.text.get(self.counted_bytes) == Some(&b'\n');
            self.line += usize::from(ends_line && !is_half_of_crlf);
        }
        (self.counted_bytes, self.line)
    }
}
