//! Divides rows with long strings into statements of a reasonable size.

/// The maximum size of the bodies in one statement.
pub(crate) const STATEMENT_BYTES: usize = 1 << 20;

/// Divides rows by the number of values that one statement may bind, and by the size that it should have.
pub(crate) fn split_into_statements<T>(new: &[T], rows_max: usize, size: fn(&T) -> usize) -> Vec<&[T]> {
    let (mut slices, mut rest) = (Vec::new(), new);
    while !rest.is_empty() {
        let mut bytes = 0_usize;
        let fits = |row: &&T| {
            bytes = bytes.saturating_add(size(row));
            bytes <= STATEMENT_BYTES
        };
        let count = rest.iter().take(rows_max).take_while(fits).count().max(1);
        let (slice, after) = rest.split_at(count);
        slices.push(slice);
        rest = after;
    }
    slices
}
