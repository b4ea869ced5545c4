//! Lists, page after page.

use std::collections::VecDeque;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::transport::Client;

/// The items of a list, from the first to the last; pages are asked for as they are needed. It ends with an error, if
/// there is one.
pub struct Pages<'a, T> {
    client: &'a Client,
    path: String,
    /// None behind the last page.
    next: Option<i64>,
    held: VecDeque<T>,
}

#[derive(Deserialize)]
struct Page<T> {
    page: i64,
    per_page: i64,
    total_count: i64,
    results: VecDeque<T>,
}

impl<'a, T: DeserializeOwned> Pages<'a, T> {
    /// Of a list (behaviour 6.2); `path` may bring a query.
    pub(crate) fn of(client: &'a Client, path: String) -> Self {
        Self { client, path, next: Some(1), held: VecDeque::new() }
    }

    fn turn(&mut self, number: i64) -> Result<(), Error> {
        let separator = if self.path.contains('?') { '&' } else { '?' };
        let page: Page<T> = self.client.get(&format!("{}{separator}page={number}", self.path))?;
        let is_last = page.results.is_empty() || page.page.saturating_mul(page.per_page) >= page.total_count;
        self.next = if is_last { None } else { Some(number + 1) };
        self.held = page.results;
        Ok(())
    }
}

impl<T: DeserializeOwned> Iterator for Pages<'_, T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.held.is_empty() {
            let number = self.next.take()?;
            if let Err(error) = self.turn(number) {
                return Some(Err(error));
            }
        }
        self.held.pop_front().map(Ok)
    }
}
