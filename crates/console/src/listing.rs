//! The sort order and the page of a table, as read from the query.

use std::cmp::Ordering;

use crate::model::TablePage;
use crate::query::Query;

/// Rows per page.
pub const ROWS_PER_PAGE: u16 = 50;

/// A column that a table can be sorted by. The first column is the default.
pub trait Column: Copy + PartialEq + 'static {
    type Row;
    const ALL: &'static [Self];

    /// The value of the parameter `sort` that selects this column.
    fn sort_key(self) -> &'static str;

    /// The heading of the column.
    fn heading(self) -> &'static str;

    /// Whether the column holds numbers, which are right-aligned and sorted in descending order first.
    fn is_number(self) -> bool;

    /// Compares two rows, for callers that have all rows in memory.
    fn compare_rows(self, a: &Self::Row, b: &Self::Row) -> Ordering;
}

/// The requested order and page: `?sort=name&order=desc&page=3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing<C> {
    /// The column to sort by; `None` only for a table without columns to sort by.
    pub column: Option<C>,
    pub is_descending: bool,
    /// The number of the page, starting at 1.
    pub page: u32,
}

/// Compares names without regard to case.
pub(crate) fn compare_ignoring_case(a: &str, b: &str) -> Ordering {
    a.chars().flat_map(char::to_lowercase).cmp(b.chars().flat_map(char::to_lowercase))
}

impl<C: Column> Listing<C> {
    /// Reads the parameters. Invalid values are ignored.
    pub fn from_query(query: &Query) -> Self {
        let named = query.get("sort").and_then(|name| C::ALL.iter().find(|column| column.sort_key() == name));
        let column = named.or(C::ALL.first()).copied();
        let is_descending = match query.get("order") {
            Some("asc") => false,
            Some("desc") => true,
            _ => column.is_some_and(C::is_number),
        };
        let page = query.get("page").and_then(|page| page.parse().ok()).filter(|page| *page > 0).unwrap_or(1);
        Self { column, is_descending, page }
    }

    /// Returns the number of rows before the page.
    pub fn offset(&self) -> u64 {
        u64::from(self.page.saturating_sub(1)) * u64::from(ROWS_PER_PAGE)
    }

    /// Sorts rows that are all in memory and returns those of the page. The sort is stable.
    pub fn sort_and_paginate(&self, mut all: Vec<C::Row>) -> TablePage<C::Row> {
        if let Some(column) = self.column {
            all.sort_by(|a, b| {
                let order = column.compare_rows(a, b);
                if self.is_descending { order.reverse() } else { order }
            });
        }
        let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let skipped = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        TablePage { rows: all.into_iter().skip(skipped).take(usize::from(ROWS_PER_PAGE)).collect(), total }
    }
}

/// A position in a log: `?before=…` selects older entries, `?after=…` newer ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogPosition {
    Newest,
    Before(String),
    After(String),
}

impl LogPosition {
    /// Reads the parameters. Cursors are not validated here.
    pub fn from_query(query: &Query) -> Self {
        match (query.get("before"), query.get("after")) {
            (Some(cursor), _) => Self::Before(cursor.to_owned()),
            (None, Some(cursor)) => Self::After(cursor.to_owned()),
            (None, None) => Self::Newest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum TestColumn {
        Name,
        Size,
    }

    impl Column for TestColumn {
        type Row = (&'static str, i64);
        const ALL: &'static [Self] = &[Self::Name, Self::Size];

        fn sort_key(self) -> &'static str {
            if self == Self::Name { "name" } else { "size" }
        }

        fn heading(self) -> &'static str {
            self.sort_key()
        }

        fn is_number(self) -> bool {
            self == Self::Size
        }

        fn compare_rows(self, a: &Self::Row, b: &Self::Row) -> Ordering {
            if self == Self::Name { a.0.cmp(b.0) } else { a.1.cmp(&b.1) }
        }
    }

    fn read_listing(query: &str) -> (Option<TestColumn>, bool, u32) {
        let Listing { column, is_descending, page } = Listing::<TestColumn>::from_query(&Query::parse(query));
        (column, is_descending, page)
    }

    #[test]
    fn invalid_parameters_are_ignored() {
        assert_eq!(read_listing(""), (Some(TestColumn::Name), false, 1));
        assert_eq!(read_listing("sort=size"), (Some(TestColumn::Size), true, 1));
        assert_eq!(read_listing("sort=size&order=asc&page=3"), (Some(TestColumn::Size), false, 3));
        assert_eq!(read_listing("sort=nothing&order=up&page=-1"), (Some(TestColumn::Name), false, 1));
        assert_eq!(read_listing("page=0"), (Some(TestColumn::Name), false, 1));
        assert_eq!(read_listing("page=99999999999"), (Some(TestColumn::Name), false, 1));
    }

    #[test]
    fn rows_are_sorted_and_paginated() {
        let all: Vec<_> = (0..120).map(|number| ("a", number)).collect();
        let listing = Listing::<TestColumn>::from_query(&Query::parse("sort=size&page=3"));
        assert_eq!(listing.offset(), 100);
        let page = listing.sort_and_paginate(all.clone());
        assert_eq!((page.total, page.rows.len(), page.rows[0]), (120, 20, ("a", 19)));
        let beyond =
            Listing::<TestColumn>::from_query(&Query::parse("page=4294967295")).sort_and_paginate(all);
        assert_eq!((beyond.total, beyond.rows.len()), (120, 0));
    }

    #[test]
    fn log_position_is_read_from_the_query() {
        assert_eq!(LogPosition::from_query(&Query::parse("")), LogPosition::Newest);
        assert_eq!(LogPosition::from_query(&Query::parse("before=7")), LogPosition::Before("7".into()));
        assert_eq!(LogPosition::from_query(&Query::parse("after=9")), LogPosition::After("9".into()));
    }
}
