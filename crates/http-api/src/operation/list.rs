//! Renders lists: the envelope and the `Link` header (behaviour 6).

use std::cell::RefCell;

use guerdon_domain::values::{Page, checked_cast};
use schemars::JsonSchema;
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use crate::operation::{ApiError, Call, Query, RenderedResponse};

/// The maximum number of items on a page of an enveloped list.
const PER_PAGE_MAX: i64 = 1_000;
/// The maximum number of items on a short page (behaviour 6.1).
const SHORT_PER_PAGE_MAX: i64 = 100;

/// The page of an enveloped list that a call requests.
pub(crate) fn requested_page(call: &Call) -> Result<Page, ApiError> {
    call.parse_query(read_page)
}

/// The page of an enveloped list that a query requests.
pub(crate) fn read_page(query: &mut Query) -> Option<Page> {
    query.read_page(PER_PAGE_MAX)
}

/// The page of at most 100 items that a query requests, for lists with large items or with nested lists.
pub(crate) fn read_short_page(query: &mut Query) -> Option<Page> {
    query.read_page(SHORT_PER_PAGE_MAX)
}

/// A page of a list whose total is known.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct ListBody<L> {
    /// The number of the page, starting at 1. Example: `1`
    #[schemars(range(min = 1))]
    page: i64,
    /// The maximum number of items on a page. A larger value than the list allows is reduced to the list's maximum.
    /// Example: `100`
    #[schemars(range(min = 1))]
    per_page: i64,
    /// The number of items on all pages. Example: `1`
    #[schemars(range(min = 0))]
    total_count: i64,
    /// The number of items on this page. Example: `1`
    result_count: usize,
    /// The items on this page.
    results: L,
}

/// A page of a list, for the OpenAPI document.
pub(crate) type ListOf<T> = ListBody<Vec<T>>;

/// Renders a page in the envelope, with links to the other pages of the list that `links` describes.
pub(crate) fn render_page<T: Serialize>(
    links: &Links,
    page: Page,
    total_count: i64,
    results: Vec<T>,
) -> Result<RenderedResponse, ApiError> {
    let (result_count, number, per_page) = (results.len(), page.number(), page.per_page());
    let envelope = ListBody { page: number, per_page, total_count, result_count, results };
    Ok(add_page_links(RenderedResponse::ok(&envelope)?, links, page, total_count))
}

/// Renders a page whose items are too large to be in memory together. They are loaded and rendered in batches.
pub(crate) fn render_page_in_batches<T: Serialize>(
    links: &Links,
    page: Page,
    total_count: i64,
    items_max: i64,
    load: &mut dyn FnMut(Page) -> Result<Vec<T>, ApiError>,
) -> Result<RenderedResponse, ApiError> {
    let item_count = total_count.saturating_sub(page.offset()).clamp(0, page.per_page());
    let result_count = checked_cast(item_count);
    let (number, per_page) = (page.number(), page.per_page());
    let items =
        LazyItems { page, items_max, item_count, load: RefCell::new(load), error: RefCell::new(None) };
    let envelope = ListBody { page: number, per_page, total_count, result_count, results: &items };
    let response = RenderedResponse::ok(&envelope);
    match items.error.take() {
        Some(error) => Err(error),
        None => Ok(add_page_links(response?, links, page, total_count)),
    }
}

/// Items that are loaded while they are rendered.
struct LazyItems<'a, T> {
    page: Page,
    items_max: i64,
    item_count: i64,
    load: RefCell<&'a mut dyn FnMut(Page) -> Result<Vec<T>, ApiError>>,
    error: RefCell<Option<ApiError>>,
}

impl<T: Serialize> Serialize for LazyItems<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let end = self.page.offset().saturating_add(self.item_count);
        for part in self.page.split_into_parts(self.items_max).take_while(|part| part.offset() < end) {
            let loaded = (self.load.borrow_mut())(part).map_err(|error| {
                self.error.replace(Some(error));
                S::Error::custom("a part of the list could not be loaded")
            })?;
            loaded.iter().try_for_each(|item| list.serialize_element(item))?;
        }
        list.end()
    }
}

fn add_page_links(
    response: RenderedResponse,
    links: &Links,
    page: Page,
    total_count: i64,
) -> RenderedResponse {
    let last = last_page_number(total_count, page.per_page());
    response.with_header("link", &links.to_header(page, page.number() < last, Some(last)))
}

/// The memory in bytes of the largest response to a query; 0 if the query is invalid and will be refused.
pub(crate) fn estimate_page_memory(page: Result<Page, ApiError>, item_bytes: usize) -> usize {
    page.map_or(0, |page| checked_cast::<usize, _>(page.per_page()).saturating_mul(item_bytes))
}

/// The number of the last page. An empty list has one empty page.
fn last_page_number(total: i64, per_page: i64) -> i64 {
    let full = total.checked_div(per_page).unwrap_or_default();
    let rest = total.checked_rem(per_page).unwrap_or_default();
    (full + i64::from(rest > 0)).max(1)
}

/// Removes the items beyond the page. Returns whether there were any, which means that there is a next page.
pub(crate) fn truncate_to_page<T>(page: Page, found: &mut Vec<T>) -> bool {
    let limit = checked_cast(page.limit());
    let has_next = found.len() > limit;
    found.truncate(limit);
    has_next
}

/// The URL of a list: its path and the parameters of its query, without the page.
pub(crate) struct Links {
    pub(crate) path: String,
    /// The encoded parameters, each followed by an ampersand, as [`Query::encode_parameters`] returns them.
    pub(crate) filters: String,
}

impl Links {
    /// A list that is selected by its path alone.
    pub(crate) fn for_path(path: impl Into<String>) -> Self {
        Self { path: path.into(), filters: String::new() }
    }

    /// The `Link` header of a page, without `last` if the total is unknown (behaviour 6.4).
    pub(crate) fn to_header(&self, page: Page, has_next: bool, last: Option<i64>) -> String {
        let link = |relation: &str, number: i64| {
            let (path, filters, per_page) = (&self.path, &self.filters, page.per_page());
            format!("<{path}?{filters}page={number}&per_page={per_page}>; rel=\"{relation}\"")
        };
        let mut links = vec![link("first", 1)];
        if page.number() > 1 {
            links.push(link("prev", page.number() - 1));
        }
        if has_next {
            links.push(link("next", page.number().saturating_add(1)));
        }
        links.extend(last.map(|number| link("last", number)));
        links.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_neighbours_of_a_page() {
        let links = Links { filters: "type=peer_wallet&".to_owned(), ..Links::for_path("/v1/x") };
        let relations = |number, has_next, last| {
            let all = links.to_header(Page::new(number, 10).unwrap(), has_next, last);
            all.split(", ").map(|link| link.split("rel=").last().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(relations(1, false, None), ["\"first\""]);
        assert_eq!(relations(2, true, None), ["\"first\"", "\"prev\"", "\"next\""]);
        assert_eq!(relations(2, true, Some(9)), ["\"first\"", "\"prev\"", "\"next\"", "\"last\""]);
        let first = links.to_header(Page::new(1, 10).unwrap(), false, None);
        assert_eq!(first, "</v1/x?type=peer_wallet&page=1&per_page=10>; rel=\"first\"");
        let plain = Links::for_path("/v1/y").to_header(Page::new(1, 7).unwrap(), false, Some(1));
        assert_eq!(
            plain,
            "</v1/y?page=1&per_page=7>; rel=\"first\", </v1/y?page=1&per_page=7>; rel=\"last\""
        );
    }

    #[test]
    fn the_last_page_holds_the_remaining_items() {
        let check = |total, per_page, expected| assert_eq!(last_page_number(total, per_page), expected);
        check(0, 100, 1);
        check(1, 100, 1);
        check(100, 100, 1);
        check(101, 100, 2);
        check(5, 1, 5);
    }

    #[test]
    fn one_item_more_than_a_page_means_a_next_page() {
        let page = Page::new(3, 10).unwrap();
        assert_eq!((page.with_lookahead().offset(), page.with_lookahead().limit()), (20, 11));
        let check = |found: usize, expected: (bool, usize)| {
            let mut all = vec![(); found];
            assert_eq!((truncate_to_page(page, &mut all), all.len()), expected);
        };
        check(9, (false, 9));
        check(10, (false, 10));
        check(11, (true, 10));
    }
}
