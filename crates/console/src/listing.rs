//! The sort order and the page of a table, as read from the query.

use std::cmp::Ordering;

use crate::model::Rows;
use crate::query::Query;

/// Rows per page.
pub const PER_PAGE: u16 = 50;

/// A column that a table can be sorted by. The first column is the default.
pub trait Column: Copy + PartialEq + 'static {
    type Row;
    const ALL: &'static [Self];

    /// The value of the parameter `sort`.
    fn name(self) -> &'static str;

    /// The heading of the column.
    fn heading(self) -> &'static str;

    /// Whether the column holds numbers, which are right-aligned and sorted in descending order first.
    fn is_number(self) -> bool;

    /// Compares two rows, for callers that have all rows in memory.
    fn compare(self, a: &Self::Row, b: &Self::Row) -> Ordering;
}

/// The requested order and page: `?sort=name&order=desc&page=3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing<C> {
    /// The column to sort by; `None` only for a table without columns to sort by.
    pub column: Option<C>,
    pub is_descending: bool,
    /// Starts at 1.
    pub page: u32,
}

/// Compares names without regard to case.
pub(crate) fn by_letters(a: &str, b: &str) -> Ordering {
    a.chars().flat_map(char::to_lowercase).cmp(b.chars().flat_map(char::to_lowercase))
}

impl<C: Column> Listing<C> {
    /// Reads the parameters. Invalid values are ignored.
    pub fn read(query: &Query) -> Self {
        let named = query.get("sort").and_then(|name| C::ALL.iter().find(|column| column.name() == name));
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
        u64::from(self.page.saturating_sub(1)) * u64::from(PER_PAGE)
    }

    /// Sorts rows that are all in memory and returns those of the page. The sort is stable.
    pub fn cut(&self, mut all: Vec<C::Row>) -> Rows<C::Row> {
        if let Some(column) = self.column {
            all.sort_by(|a, b| {
                let order = column.compare(a, b);
                if self.is_descending { order.reverse() } else { order }
            });
        }
        let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let skipped = usize::try_from(self.offset()).unwrap_or(usize::MAX);
        Rows { rows: all.into_iter().skip(skipped).take(usize::from(PER_PAGE)).collect(), total }
    }
}

/// A position in a log: `?before=…` selects older entries, `?after=…` newer ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Newest,
    Before(String),
    After(String),
}

impl Place {
    /// Reads the parameters. Cursors are not validated here.
    pub fn read(query: &Query) -> Self {
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
    enum By {
        Name,
        Size,
    }

    impl Column for By {
        type Row = (&'static str, i64);
        const ALL: &'static [Self] = &[Self::Name, Self::Size];

        fn name(self) -> &'static str {
            if self == Self::Name { "name" } else { "size" }
        }

        fn heading(self) -> &'static str {
            self.name()
        }

        fn is_number(self) -> bool {
            self == Self::Size
        }

        fn compare(self, a: &Self::Row, b: &Self::Row) -> Ordering {
            if self == Self::Name { a.0.cmp(b.0) } else { a.1.cmp(&b.1) }
        }
    }

    fn read(query: &str) -> (Option<By>, bool, u32) {
        let Listing { column, is_descending, page } = Listing::<By>::read(&Query::parse(query));
        (column, is_descending, page)
    }

    #[test]
    fn what_is_asked_for_wrongly_is_not_asked_for() {
        assert_eq!(read(""), (Some(By::Name), false, 1));
        assert_eq!(read("sort=size"), (Some(By::Size), true, 1));
        assert_eq!(read("sort=size&order=asc&page=3"), (Some(By::Size), false, 3));
        assert_eq!(read("sort=nothing&order=up&page=-1"), (Some(By::Name), false, 1));
        assert_eq!(read("page=0"), (Some(By::Name), false, 1));
        assert_eq!(read("page=99999999999"), (Some(By::Name), false, 1));
    }

    #[test]
    fn rows_are_sorted_and_cut() {
        let all: Vec<_> = (0..120).map(|number| ("a", number)).collect();
        let listing = Listing::<By>::read(&Query::parse("sort=size&page=3"));
        assert_eq!(listing.offset(), 100);
        let page = listing.cut(all.clone());
        assert_eq!((page.total, page.rows.len(), page.rows[0]), (120, 20, ("a", 19)));
        let beyond = Listing::<By>::read(&Query::parse("page=4294967295")).cut(all);
        assert_eq!((beyond.total, beyond.rows.len()), (120, 0));
    }

    #[test]
    fn a_log_is_read_from_its_newest_end() {
        assert_eq!(Place::read(&Query::parse("")), Place::Newest);
        assert_eq!(Place::read(&Query::parse("before=7")), Place::Before("7".into()));
        assert_eq!(Place::read(&Query::parse("after=9")), Place::After("9".into()));
    }
}
