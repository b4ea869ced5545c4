//! `GET /v1/companies/{id}/reserve` and its transactions, newest first.

use guerdon_api_types::WireValue;
use guerdon_domain::money::Points;
use guerdon_domain::ports::ReadTx;
use guerdon_domain::values::CompanyId;
use guerdon_domain::wallets::Account;
use schemars::JsonSchema;
use serde::Serialize;

use super::get::company_in_path;
use crate::endpoints::users::TransactionView;
use crate::operation::list::{Links, read_short_page, truncate_to_page};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

pub(crate) struct GetReserve;

impl OperationDocs for GetReserve {
    const NAME: &'static str = "getReserve";
    const SUMMARY: &'static str = "Fetch the reserve of a company";
    const DESCRIPTION: &'static str = "The points that the company can send and the operator can distribute, at the current rate. The \
         operator deposits them.";
    const IS_EXTENSION: bool = true;
    type View = ReserveView;
}

impl ReadOperation for GetReserve {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let company = company_in_path(reads, call)?.company;
        let balance = reads.account_balance(Account::Reserve(company.id))?.unwrap_or_default();
        RenderedResponse::ok(&ReserveView {
            id: WireValue(company.id),
            points: company.rate.shown_points(balance).get(),
            reserve_alert: company.reserve_alert.map(Points::get),
        })
    }
}

pub(crate) struct ListReserveTransactions;

impl OperationDocs for ListReserveTransactions {
    const NAME: &'static str = "listReserveTransactions";
    const SUMMARY: &'static str = "List the transactions of a reserve";
    const DESCRIPTION: &'static str = "Deposits, withdrawals and payments of the reserve, newest first. The points of a transaction are \
         those at the rate of its time and never change.";
    const IS_EXTENSION: bool = true;
    const READ_QUERY: fn(&mut Query) = |query| _ = read_short_page(query);
    type View = TransactionsView;
}

impl ReadOperation for ListReserveTransactions {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let id = company_in_path(reads, call)?.company.id;
        let page = call.parse_query(read_short_page)?;
        let mut transactions = reads.list_transactions(Account::Reserve(id), page.with_lookahead())?;
        let has_next = truncate_to_page(page, &mut transactions);
        let transactions = transactions.iter().map(TransactionView::from_transaction).collect();
        let links = Links::for_path(format!("/v1/companies/{id}/reserve/transactions"));
        let view = TransactionsView { id: WireValue(id), r#type: "reserve", transactions };
        Ok(RenderedResponse::ok(&view)?.with_header("link", &links.to_header(page, has_next, None)))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Reserve")]
pub(crate) struct ReserveView {
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    id: WireValue<CompanyId>,
    /// The balance at the current rate. Example: `500`
    #[schemars(with = "WireValue<Points>")]
    points: i64,
    /// If the reserve falls below this number of points, the company's admins are notified by email. Example: `1000`
    #[schemars(with = "Option<WireValue<Points>>")]
    reserve_alert: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReserveTransactions")]
pub(crate) struct TransactionsView {
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    id: WireValue<CompanyId>,
    /// The reserve. Example: `"reserve"`
    #[schemars(extend("const" = "reserve"))]
    r#type: &'static str,
    /// The transactions, newest first.
    transactions: Vec<TransactionView>,
}
