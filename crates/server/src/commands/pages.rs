//! Lists that are read page by page.

use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{Page, fit};

const PER_PAGE: i64 = 1_000;

/// All items of a list.
pub(super) fn all<T>(mut read: impl FnMut(Page) -> Result<Vec<T>, StoreError>) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    for page in (1..).map_while(|number| Page::new(number, PER_PAGE)) {
        let found = read(page)?;
        let is_last = found.len() < fit::<usize, _>(PER_PAGE);
        all.extend(found);
        if is_last {
            break;
        }
    }
    Ok(all)
}
