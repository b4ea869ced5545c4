//! Divides rows into slices of a limited size.

/// The maximum size of the bodies in one statement.
pub(crate) const STATEMENT_BYTES: usize = 1 << 20;

/// Divides rows by the number of values that one statement may bind, and by the size in bytes that it should have.
pub(crate) fn split_into_statements<T>(rows: &[T], rows_max: usize, size: fn(&T) -> usize) -> Vec<&[T]> {
    split_by_size(rows, rows_max, STATEMENT_BYTES, size)
}

/// Divides rows into slices of at most `rows_max` rows whose sizes add up to at most `size_max`, unless a slice is a
/// single row.
pub(crate) fn split_by_size<T>(
    rows: &[T],
    rows_max: usize,
    size_max: usize,
    size: fn(&T) -> usize,
) -> Vec<&[T]> {
    let (mut slices, mut rest) = (Vec::new(), rows);
    while !rest.is_empty() {
        let mut total = 0_usize;
        let fits = |row: &&T| {
            total = total.saturating_add(size(row));
            total <= size_max
        };
        let count = rest.iter().take(rows_max).take_while(fits).count().max(1);
        let (slice, after) = rest.split_at(count);
        slices.push(slice);
        rest = after;
    }
    slices
}
