//! `GET /v1/companies/{id}/users/balances`: the wallets of a company's active users, at today's rate.

use guerdon_domain::ports::Reads;
use guerdon_domain::values::{CompanyId, UserId};
use serde::Serialize;

use super::get::company_in_path;
use crate::endpoints::users::WalletView;
use crate::operation::Read;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{Links, cut};
use crate::operation::query::unless_faulty;
use crate::operation::wire::Shown;

/// The most on a page (behaviour 6.1).
const PER_PAGE_MAX: i64 = 100;

pub(crate) struct Balances;

impl Read for Balances {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let company = company_in_path(reads, call)?.company;
        let mut faults = Vec::new();
        let page = call.parameters()?.page(PER_PAGE_MAX, &mut faults);
        let page = unless_faulty(page, &faults)?;
        let mut ids = reads.active_users_page(company.id, page.and_one_more())?;
        let has_next = cut(page, &mut ids);
        let wallets = reads.wallets_of(&ids)?;
        let users = ids.into_iter().zip(wallets).map(|(id, wallets)| UserBalances {
            id: Shown(id),
            wallets: wallets.iter().map(|it| WalletView::of(it, company.rate)).collect(),
        });
        let view = View { id: Shown(company.id), users: users.collect() };
        let links = Links::to(format!("/v1/companies/{}/users/balances", company.id));
        Ok(Answer::ok(&view)?.with("link", &links.header(page, has_next, None)))
    }
}

#[derive(Serialize)]
struct View {
    id: Shown<CompanyId>,
    users: Vec<UserBalances>,
}

#[derive(Serialize)]
struct UserBalances {
    id: Shown<UserId>,
    wallets: Vec<WalletView>,
}
