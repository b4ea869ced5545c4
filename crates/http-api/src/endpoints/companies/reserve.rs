//! `GET /v1/companies/{id}/reserve` and its transactions, newest first.

use guerdon_domain::money::Points;
use guerdon_domain::ports::Reads;
use guerdon_domain::values::CompanyId;
use guerdon_domain::wallets::Account;
use schemars::JsonSchema;
use serde::Serialize;

use super::get::company_in_path;
use crate::endpoints::users::TransactionView;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{Links, cut, short_page};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::Shown;
use guerdon_api_types::parameter::Parameter;

pub(crate) struct Reserve;

impl Described for Reserve {
    const NAME: &'static str = "getReserve";
    const SUMMARY: &'static str = "Fetch the reserve of a company";
    const TEXT: &'static str = "The points that the company can send and the operator can distribute, at the current rate. The \
         operator deposits them.";
    const IS_EXTENSION: bool = true;
    type View = ReserveView;
}

impl Read for Reserve {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let company = company_in_path(reads, call)?.company;
        let held = reads.balance(Account::Reserve(company.id))?.unwrap_or_default();
        Answer::ok(&ReserveView {
            id: Shown(company.id),
            points: company.rate.points(held).get(),
            reserve_alert: company.reserve_alert.map(Points::get),
        })
    }
}

pub(crate) struct ReserveTransactions;

impl Described for ReserveTransactions {
    const NAME: &'static str = "listReserveTransactions";
    const SUMMARY: &'static str = "List the transactions of a reserve";
    const TEXT: &'static str = "Deposits, withdrawals and payments of the reserve, newest first. The points of a transaction are \
         those at the rate of its time and never change.";
    const IS_EXTENSION: bool = true;
    type View = TransactionsView;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(short_page)
    }
}

impl Read for ReserveTransactions {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let id = company_in_path(reads, call)?.company.id;
        let page = call.query(short_page)?;
        let mut found = reads.transactions(Account::Reserve(id), page.and_one_more())?;
        let has_next = cut(page, &mut found);
        let transactions = found.iter().map(TransactionView::of).collect();
        let links = Links::to(format!("/v1/companies/{id}/reserve/transactions"));
        let view = TransactionsView { id: Shown(id), r#type: "reserve", transactions };
        Ok(Answer::ok(&view)?.with("link", &links.header(page, has_next, None)))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Reserve")]
pub(crate) struct ReserveView {
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    id: Shown<CompanyId>,
    /// The balance at the current rate. Example: `500`
    #[schemars(with = "Shown<Points>")]
    points: i64,
    /// If the reserve falls below this number of points, the company's admins are notified by mail. Example: `1000`
    #[schemars(with = "Option<Shown<Points>>")]
    reserve_alert: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReserveTransactions")]
pub(crate) struct TransactionsView {
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    id: Shown<CompanyId>,
    /// The reserve. Example: `"reserve"`
    #[schemars(extend("const" = "reserve"))]
    r#type: &'static str,
    /// The transactions, newest first.
    transactions: Vec<TransactionView>,
}
