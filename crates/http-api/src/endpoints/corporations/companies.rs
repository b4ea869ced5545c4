//! `GET /v1/corporations/{id}/companies`: the provider's companies in a corporation.

use guerdon_api_types::views::ListedCompany;
use guerdon_domain::ports::ReadTx;

use super::get::corporation_in_path;
use crate::endpoints::companies::{COMPANY_BYTES_MAX, render_list};
use crate::operation::list::{self, Links, ListOf};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

pub(crate) struct ListCompanies;

impl OperationDocs for ListCompanies {
    const NAME: &'static str = "listCorporationCompanies";
    const SUMMARY: &'static str = "List the companies of a corporation";
    const DESCRIPTION: &'static str = "Your companies in the corporation, oldest first.";
    const READ_QUERY: fn(&mut Query) = |query| _ = list::read_page(query);
    type View = ListOf<ListedCompany>;
}

impl ReadOperation for ListCompanies {
    const ITEM_BYTES_MAX: usize = COMPANY_BYTES_MAX;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let id = corporation_in_path(reads, call)?.id;
        let page = list::requested_page(call)?;
        let links = Links::for_path(format!("/v1/corporations/{id}/companies"));
        render_list(reads, call, Some(id), page, &links)
    }
}
