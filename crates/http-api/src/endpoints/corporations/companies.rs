//! `GET /v1/corporations/{id}/companies`: the provider's companies in a corporation.

use guerdon_domain::ports::Reads;

use super::get::corporation_in_path;
use guerdon_api_types::views::ListedCompany;

use crate::endpoints::companies::{answer_list, list_weight};
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::parameter::Parameter;

pub(crate) struct Companies;

impl Described for Companies {
    const NAME: &'static str = "listCorporationCompanies";
    const SUMMARY: &'static str = "List the companies of a corporation";
    const TEXT: &'static str = "Your companies in the corporation, oldest first.";
    type View = ListOf<ListedCompany>;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(list::page)
    }
}

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
