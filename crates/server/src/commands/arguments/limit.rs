//! The option `--limit`, and lists that are read page by page up to the limit.

use std::ops::RangeInclusive;

use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{Page, checked_cast};

use crate::commands::output::format_count;

const PAGE_SIZE: i64 = 1_000;
/// The maximum number of items that one command shows.
const LIMIT_MAX: u32 = 100_000;

/// Parses a limit from 1 to 100,000.
pub(crate) fn parse_limit(text: &str) -> Result<u32, String> {
    parse_number(text, 1..=LIMIT_MAX)
}

/// Parses a whole number within a range; the error names the range.
pub(crate) fn parse_number(text: &str, range: RangeInclusive<u32>) -> Result<u32, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().ok() } else { None };
    number.filter(|number| range.contains(number)).ok_or_else(|| {
        format!("must be a whole number from {} to {}: no sign, no comma", range.start(), range.end())
    })
}

/// The note for a list that may be incomplete, because it has as many items as `--limit` permits; empty otherwise.
pub(crate) fn limit_note(count: usize, limit: u32, one: &str, many: &str) -> Vec<String> {
    let is_full = count >= checked_cast::<usize, _>(limit);
    let advice =
        if limit < LIMIT_MAX { "use --limit to show more" } else { "select fewer with other options" };
    let note = || format!("there may be more than {}: {advice}", format_count(count, one, many));
    is_full.then(note).into_iter().collect()
}

/// Reads the first `limit` items of a list, or all if there are fewer.
pub(crate) fn read_first<T>(
    limit: usize,
    mut read: impl FnMut(Page) -> Result<Vec<T>, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    if limit == 0 {
        return Ok(all);
    }
    for page in (1..).map_while(|number| Page::new(number, PAGE_SIZE)) {
        let found = read(page)?;
        let is_last = found.len() < checked_cast::<usize, _>(PAGE_SIZE);
        all.extend(found);
        if is_last || all.len() >= limit {
            break;
        }
    }
    all.truncate(limit);
    Ok(all)
}
