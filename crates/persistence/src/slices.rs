//! Rows of which each carries a text of its own, as many to a statement as it should carry.

/// How much of bodies one statement carries.
pub(crate) const STATEMENT_BYTES: usize = 1 << 20;

/// Cuts rows to what one statement may bind and should carry.
pub(crate) fn slices<T>(new: &[T], rows_max: usize, size: fn(&T) -> usize) -> Vec<&[T]> {
    let (mut slices, mut rest) = (Vec::new(), new);
    while !rest.is_empty() {
        let mut bytes = 0_usize;
        let fits = |it: &&T| {
            bytes = bytes.saturating_add(size(it));
            bytes <= STATEMENT_BYTES
        };
        let count = rest.iter().take(rows_max).take_while(fits).count().max(1);
        let (slice, after) = rest.split_at(count);
        slices.push(slice);
        rest = after;
    }
    slices
}
