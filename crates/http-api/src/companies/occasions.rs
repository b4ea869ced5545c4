//! `GET /v1/companies/{id}/occasions`: the occasions that a company can use, the global ones included.

use guerdon_domain::ports::Reads;

use super::get::company_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::error::ApiError;
use crate::list::{self, Links};
use crate::occasions::OccasionView;
use crate::operation::Read;

pub(crate) struct Occasions;

impl Read for Occasions {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let id = company_in_path(reads, call)?.company.id;
        let page = list::page_of(call)?;
        let total = reads.occasion_count(id)?;
        let found = reads.occasions(id, page)?;
        let links = Links::to(format!("/v1/companies/{id}/occasions"));
        list::answer(&links, page, total, found.iter().map(OccasionView::of).collect())
    }
}
