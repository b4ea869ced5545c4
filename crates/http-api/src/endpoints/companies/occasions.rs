//! `GET /v1/companies/{id}/occasions`: the occasions that a company can use, the global ones included.

use guerdon_domain::occasions::Occasion;
use guerdon_domain::ports::Reads;
use guerdon_domain::values::{Message, Page};
use serde::{Serialize, Serializer};

use super::get::company_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::parameter::Parameter;
use guerdon_api_types::views::OccasionView;

/// The most bytes of one in the body: a message, a name, a title and the rest.
const RENDERED: usize = Message::BYTES_MAX + 2_560;
/// How many are held at once on their way there.
const PART: i64 = 50;
/// What these take: as the database answered them, as rows and as occasions.
const PART_WEIGHT: usize = 50 * 3 * RENDERED;

pub(crate) struct Occasions;

impl Described for Occasions {
    const NAME: &'static str = "listCompanyOccasions";
    const SUMMARY: &'static str = "List the occasions of a company";
    const TEXT: &'static str = "The occasions that the company can use, oldest first, including global ones.";
    type View = ListOf<OccasionView<'static>>;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(list::page)
    }
}

/// One of them, rendered as its view.
struct Item(Occasion);

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        OccasionView::of(&self.0).serialize(serializer)
    }
}

impl Read for Occasions {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let id = company_in_path(reads, call)?.company.id;
        let page = list::page_of(call)?;
        let total = reads.occasion_count(id)?;
        let links = Links::to(format!("/v1/companies/{id}/occasions"));
        let mut load = |part: Page| Ok(reads.occasions(id, part)?.into_iter().map(Item).collect());
        list::answer_in_parts(&links, page, total, PART, &mut load)
    }

    fn weight(call: &Call) -> usize {
        list::weight(list::page_of(call), RENDERED).saturating_add(PART_WEIGHT)
    }
}
