//! `GET /v1/corporations/{id}/companies`: the provider's companies in a corporation.

use guerdon_domain::ports::Reads;

use super::get::corporation_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::companies::{answer_list, list_weight};
use crate::error::ApiError;
use crate::list::{self, Links};
use crate::operation::Read;

pub(crate) struct Companies;

impl Read for Companies {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let id = corporation_in_path(reads, call)?.id;
        let page = list::page_of(call)?;
        let links = Links::to(format!("/v1/corporations/{id}/companies"));
        answer_list(reads, call, Some(id), page, &links)
    }

    fn weight(call: &Call) -> usize {
        list_weight(call)
    }
}
