//! Pages of a list.

/// A page of a list, numbered from 1, with at least one item per page (behaviour 6.1).
///
/// The caller must limit `per_page` to the endpoint's maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    number: i64,
    per_page: i64,
    /// In a part of a page: the number of the page's items before the part.
    skipped: i64,
    limit: i64,
}

impl Page {
    /// Creates a page; `None` if either number is below 1.
    pub const fn new(number: i64, per_page: i64) -> Option<Self> {
        if number < 1 || per_page < 1 {
            None
        } else {
            Some(Self { number, per_page, skipped: 0, limit: per_page })
        }
    }

    /// The number of the page, starting at 1.
    pub const fn number(self) -> i64 {
        self.number
    }

    /// The number of items on a full page.
    pub const fn per_page(self) -> i64 {
        self.per_page
    }

    /// The number of items before the page or the part; `i64::MAX` on overflow, which no list reaches.
    pub const fn offset(self) -> i64 {
        (self.number - 1).saturating_mul(self.per_page).saturating_add(self.skipped)
    }

    /// The maximum number of items of the page or the part.
    pub const fn limit(self) -> i64 {
        self.limit
    }

    /// Extends the page by the next item, which shows whether there is another page.
    pub const fn with_lookahead(self) -> Self {
        Self { limit: self.limit + 1, ..self }
    }

    /// The page in parts of at most `items_max` items, for callers that cannot hold the whole page in memory.
    pub fn split_into_parts(self, items_max: i64) -> impl Iterator<Item = Self> {
        let size = items_max.max(1);
        let part = move |number: i64| {
            let skipped = number.checked_mul(size).filter(|skipped| *skipped < self.per_page)?;
            Some(Self { skipped, limit: size.min(self.per_page - skipped), ..self })
        };
        (0..).map_while(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_page_are_the_page() {
        let check = |per_page, items_max, expected: &[(i64, i64)]| {
            let page = Page::new(3, per_page).unwrap();
            let parts: Vec<(i64, i64)> =
                page.split_into_parts(items_max).map(|part| (part.offset(), part.limit())).collect();
            assert_eq!(parts, expected, "{per_page} by {items_max}");
        };
        check(100, 100, &[(200, 100)]);
        check(7, 100, &[(14, 7)]);
        check(250, 100, &[(500, 100), (600, 100), (700, 50)]);
        check(2, 0, &[(4, 1), (5, 1)]);
    }

    #[test]
    fn an_offset_is_the_number_of_items_on_earlier_pages() {
        let check = |number, per_page, expected: Option<(i64, i64)>| {
            let page = Page::new(number, per_page);
            assert_eq!(page.map(|page| (page.offset(), page.limit())), expected, "{number}, {per_page}");
        };
        check(1, 100, Some((0, 100)));
        check(2, 100, Some((100, 100)));
        check(1, 1, Some((0, 1)));
        check(3, 7, Some((14, 7)));
        check(i64::MAX, 1, Some((i64::MAX - 1, 1)));
        check(i64::MAX, 1_000, Some((i64::MAX, 1_000)));
        check(0, 100, None);
        check(-1, 100, None);
        check(1, 0, None);
        check(1, -1, None);
        check(i64::MIN, i64::MIN, None);
    }
}
