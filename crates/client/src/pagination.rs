//! Lists and the event feed: items that arrive in pages.

use std::collections::VecDeque;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::api::Api;
use crate::error::Error;
use crate::objects::{Event, EventPage, EventQuery, Start};
use crate::request::append_parameter;

const ITEMS_PER_PAGE: i64 = 100;

/// Items that are fetched page by page as they are needed. With a `Client` this is an iterator; with an `AsyncClient`,
/// call `next`. The sequence ends after the first error.
#[must_use = "nothing is fetched until an item is needed"]
pub struct Items<'a, C, P> {
    pub(crate) api: &'a Api<C>,
    pub(crate) pages: P,
}

/// A list of the API.
pub type List<'a, C, T> = Items<'a, C, ListPages<T>>;
/// The events of the provider, oldest first.
pub type EventFeed<'a, C> = Items<'a, C, EventPages>;

/// A sequence of pages. It determines the next page to fetch and holds the items of the current page.
pub trait Pages {
    type Item;
    type Page: DeserializeOwned;

    /// Removes and returns the next item of the current page.
    fn take_item(&mut self) -> Option<Self::Item>;

    /// The path of the next page; `None` after the last one.
    fn next_path(&mut self) -> Option<String>;

    /// Adds a fetched page. An error ends the sequence.
    ///
    /// # Errors
    ///
    /// The error in `page`.
    fn accept_page(&mut self, page: Result<Self::Page, Error>) -> Result<(), Error>;
}

/// The pages of a list, by number.
pub struct ListPages<T> {
    path: String,
    /// `None` after the last page.
    next: Option<i64>,
    items: VecDeque<T>,
}

#[derive(Deserialize)]
pub struct ListPage<T> {
    #[serde(alias = "transactions", alias = "users")]
    results: VecDeque<T>,
    /// `None` for lists without a known total.
    total_count: Option<i64>,
}

impl<T: DeserializeOwned> Pages for ListPages<T> {
    type Item = T;
    type Page = ListPage<T>;

    fn take_item(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    fn next_path(&mut self) -> Option<String> {
        let mut path = self.path.clone();
        append_parameter(&mut path, "page", &self.next?.to_string());
        append_parameter(&mut path, "per_page", &ITEMS_PER_PAGE.to_string());
        Some(path)
    }

    fn accept_page(&mut self, page: Result<ListPage<T>, Error>) -> Result<(), Error> {
        let number = self.next.take().unwrap_or(1);
        let page = page?;
        let is_last = match page.total_count {
            Some(total) => page.results.is_empty() || number.saturating_mul(ITEMS_PER_PAGE) >= total,
            None => i64::try_from(page.results.len()).is_ok_and(|length| length < ITEMS_PER_PAGE),
        };
        self.next = (!is_last).then_some(number + 1);
        self.items = page.results;
        Ok(())
    }
}

impl<'a, C, T> List<'a, C, T> {
    pub(crate) fn from_path(api: &'a Api<C>, path: String) -> Self {
        Self { api, pages: ListPages { path, next: Some(1), items: VecDeque::new() } }
    }

    pub(crate) fn with_filter(mut self, name: &str, value: &str) -> Self {
        append_parameter(&mut self.pages.path, name, value);
        self
    }
}

/// The pages of the event feed, by cursor.
pub struct EventPages {
    /// The path with the filters.
    path: String,
    since: Option<String>,
    /// The cursors before and after the current page.
    cursors: [Option<String>; 2],
    events: VecDeque<Event>,
    is_ended: bool,
}

impl Pages for EventPages {
    type Item = Event;
    type Page = EventPage;

    fn take_item(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn next_path(&mut self) -> Option<String> {
        if self.is_ended {
            return None;
        }
        let mut path = self.path.clone();
        match (&self.cursors, &self.since) {
            ([_, Some(cursor)], _) => append_parameter(&mut path, "after", cursor),
            (_, Some(since)) => append_parameter(&mut path, "since", since),
            _ => {}
        }
        Some(path)
    }

    fn accept_page(&mut self, page: Result<EventPage, Error>) -> Result<(), Error> {
        self.is_ended = true;
        let EventPage { events, next } = page?;
        let [_, before] = std::mem::take(&mut self.cursors);
        // With a filter, a page can be empty before the end of the feed. At the end, the cursor no longer advances.
        self.is_ended = events.is_empty() && before.as_ref() == Some(&next);
        self.cursors = [before, Some(next)];
        self.events = events.into();
        Ok(())
    }
}

impl<'a, C> EventFeed<'a, C> {
    pub(crate) fn from_query(api: &'a Api<C>, query: &EventQuery<'_>) -> Self {
        let (since, after) = match query.start {
            Start::Beginning => (None, None),
            Start::Moment(since) => (Some(since.to_owned()), None),
            Start::Cursor(after) => (None, Some(after.to_owned())),
        };
        let (path, cursors) = (query.filtered_path(), [None, after]);
        Self { api, pages: EventPages { path, since, cursors, events: VecDeque::new(), is_ended: false } }
    }

    /// Returns the cursor at which another feed must start to continue after the returned events without a gap. Store
    /// the cursor after you have processed these events. The new feed may return events of the current page again.
    /// `None` means that the new feed must start where this feed started.
    pub fn cursor(&self) -> Option<&str> {
        let [before, after] = &self.pages.cursors;
        if self.pages.events.is_empty() { after.as_deref() } else { before.as_deref() }
    }
}
