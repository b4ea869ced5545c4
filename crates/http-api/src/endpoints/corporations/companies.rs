//! `GET /v1/corporations/{id}/companies`: the provider's companies in a corporation.

use guerdon_domain::ports::ReadTx;

use super::get::corporation_in_path;
use guerdon_api_types::views::ListedCompany;

use crate::endpoints::companies::{estimate_list_memory, render_list};
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::query::Query;
use crate::operation::response::RenderedResponse;
use crate::operation::{OperationDocs, ReadOperation};
use guerdon_api_types::parameter::Parameter;

pub(crate) struct ListCompanies;

impl OperationDocs for ListCompanies {
    const NAME: &'static str = "listCorporationCompanies";
    const SUMMARY: &'static str = "List the companies of a corporation";
    const DESCRIPTION: &'static str = "Your companies in the corporation, oldest first.";
    type View = ListOf<ListedCompany>;

    fn query_parameters() -> Vec<Parameter> {
        Query::collect_parameters(list::read_page)
    }
}

impl ReadOperation for ListCompanies {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let id = corporation_in_path(reads, call)?.id;
        let page = list::requested_page(call)?;
        let links = Links::for_path(format!("/v1/corporations/{id}/companies"));
        render_list(reads, call, Some(id), page, &links)
    }

    fn estimate_memory(call: &Call) -> usize {
        estimate_list_memory(call)
    }
}
