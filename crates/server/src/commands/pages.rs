//! Lists that are read page by page.

use clap::builder::RangedI64ValueParser;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{Page, fit};

const PER_PAGE: i64 = 1_000;
/// However many are asked for, one command shows no more.
const MOST: i64 = 100_000;

/// Reads how many items are shown at most.
pub(super) fn most() -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::new().range(1..=MOST)
}

/// So many items of a list, if there are as many.
pub(super) fn first<T>(
    limit: usize,
    mut read: impl FnMut(Page) -> Result<Vec<T>, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    if limit == 0 {
        return Ok(all);
    }
    for page in (1..).map_while(|number| Page::new(number, PER_PAGE)) {
        let found = read(page)?;
        let is_last = found.len() < fit::<usize, _>(PER_PAGE);
        all.extend(found);
        if is_last || all.len() >= limit {
            break;
        }
    }
    all.truncate(limit);
    Ok(all)
}
