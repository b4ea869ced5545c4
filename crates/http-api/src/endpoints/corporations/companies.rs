//! `GET /v1/corporations/{id}/companies`: the provider's companies in a corporation.

use guerdon_domain::ports::Reads;

use super::get::corporation_in_path;
use crate::endpoints::companies::{answer_list, list_weight};
use crate::operation::Read;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links};

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
