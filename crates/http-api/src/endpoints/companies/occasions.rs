//! `GET /v1/companies/{id}/occasions`: the occasions that a company can use, including global ones.

use guerdon_api_types::views::OccasionView;
use guerdon_domain::occasions::Occasion;
use guerdon_domain::ports::ReadTx;
use guerdon_domain::values::{Message, Page};
use serde::{Serialize, Serializer};

use super::get::company_in_path;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

/// The maximum number of bytes of an occasion in the response: the message, the name, the title and the rest.
const RENDERED_BYTES_MAX: usize = Message::BYTES_MAX + 2_560;
/// The number of occasions that are in memory at once.
const BATCH_SIZE: i64 = 50;
/// The memory of a batch, which exists three times: as the database returned it, as rows and as occasions.
const BATCH_BYTES_MAX: usize = 50 * 3 * RENDERED_BYTES_MAX;

pub(crate) struct ListOccasions;

impl OperationDocs for ListOccasions {
    const NAME: &'static str = "listCompanyOccasions";
    const SUMMARY: &'static str = "List the occasions of a company";
    const DESCRIPTION: &'static str =
        "The occasions that the company can use, oldest first, including global ones.";
    const READ_QUERY: fn(&mut Query) = |query| _ = list::read_page(query);
    type View = ListOf<OccasionView<'static>>;
}

/// An occasion that is serialized as its view.
struct RenderedOccasion(Occasion);

impl Serialize for RenderedOccasion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        OccasionView::from_occasion(&self.0).serialize(serializer)
    }
}

impl ReadOperation for ListOccasions {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let id = company_in_path(reads, call)?.company.id;
        let page = list::requested_page(call)?;
        let total = reads.count_occasions(id)?;
        let links = Links::for_path(format!("/v1/companies/{id}/occasions"));
        let mut load =
            |part: Page| Ok(reads.list_occasions(id, part)?.into_iter().map(RenderedOccasion).collect());
        list::render_page_in_batches(&links, page, total, BATCH_SIZE, &mut load)
    }

    fn estimate_memory(call: &Call) -> usize {
        list::estimate_page_memory(list::requested_page(call), RENDERED_BYTES_MAX)
            .saturating_add(BATCH_BYTES_MAX)
    }
}
