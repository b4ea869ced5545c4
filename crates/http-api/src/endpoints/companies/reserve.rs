//! `GET /v1/companies/{id}/reserve` and its transactions, newest first.

use guerdon_domain::money::Points;
use guerdon_domain::ports::Reads;
use guerdon_domain::values::CompanyId;
use guerdon_domain::wallets::Account;
use serde::Serialize;

use super::get::company_in_path;
use crate::endpoints::users::TransactionView;
use crate::operation::Read;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, cut};
use crate::operation::wire::Shown;

/// The most transactions on a page (behaviour 6.1).
const PER_PAGE_MAX: i64 = 100;

pub(crate) struct Reserve;

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

impl Read for ReserveTransactions {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let id = company_in_path(reads, call)?.company.id;
        let page = list::page_within(call, PER_PAGE_MAX)?;
        let mut found = reads.transactions(Account::Reserve(id), page.and_one_more())?;
        let has_next = cut(page, &mut found);
        let transactions = found.iter().map(TransactionView::of).collect();
        let links = Links::to(format!("/v1/companies/{id}/reserve/transactions"));
        let view = TransactionsView { id: Shown(id), r#type: "reserve", transactions };
        Ok(Answer::ok(&view)?.with("link", &links.header(page, has_next, None)))
    }
}

#[derive(Serialize)]
struct ReserveView {
    id: Shown<CompanyId>,
    points: i64,
    reserve_alert: Option<i64>,
}

#[derive(Serialize)]
struct TransactionsView {
    id: Shown<CompanyId>,
    r#type: &'static str,
    transactions: Vec<TransactionView>,
}
