//! `GET /v1/companies/{id}/users/balances`: the wallets of a company's active users, at today's rate.

use guerdon_domain::ports::Reads;
use guerdon_domain::values::{CompanyId, UserId};
use schemars::JsonSchema;
use serde::Serialize;

use super::get::company_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{Links, cut, short_page};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::Shown;
use guerdon_api_types::parameter::Parameter;
use guerdon_api_types::views::WalletView;

pub(crate) struct Balances;

impl Described for Balances {
    const NAME: &'static str = "listCompanyBalances";
    const SUMMARY: &'static str = "List the balances of a company's users";
    const TEXT: &'static str = "The wallets of the company's active users, oldest user first, at the current rate. The `Link` \
         header has the other pages, without a total.";
    type View = View;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(short_page)
    }
}

impl Read for Balances {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let company = company_in_path(reads, call)?.company;
        let page = call.query(short_page)?;
        let mut ids = reads.active_users_page(company.id, page.and_one_more())?;
        let has_next = cut(page, &mut ids);
        let wallets = reads.wallets_of(&ids)?;
        let users = ids.into_iter().zip(wallets).map(|(id, wallets)| UserBalances {
            id: Shown(id),
            wallets: wallets.iter().map(|wallet| WalletView::of(wallet, company.rate)).collect(),
        });
        let view = View { id: Shown(company.id), users: users.collect() };
        let links = Links::to(format!("/v1/companies/{}/users/balances", company.id));
        Ok(Answer::ok(&view)?.with("link", &links.header(page, has_next, None)))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CompanyBalances")]
pub(crate) struct View {
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    id: Shown<CompanyId>,
    /// The active users, oldest first.
    users: Vec<UserBalances>,
}

#[derive(Serialize, JsonSchema)]
struct UserBalances {
    /// The user. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    id: Shown<UserId>,
    /// The user's wallets: `user_wallet`, `peer_wallet`, and `manager_wallet` if the user is or was a manager.
    wallets: Vec<WalletView>,
}
