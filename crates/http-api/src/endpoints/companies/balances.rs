//! `GET /v1/companies/{id}/users/balances`: the wallets of a company's active users, at the current rate.

use guerdon_api_types::WireValue;
use guerdon_api_types::views::WalletView;
use guerdon_domain::ports::ReadTx;
use guerdon_domain::values::{CompanyId, UserId};
use schemars::JsonSchema;
use serde::Serialize;

use super::get::company_in_path;
use crate::operation::list::{Links, read_short_page, truncate_to_page};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

pub(crate) struct ListBalances;

impl OperationDocs for ListBalances {
    const NAME: &'static str = "listCompanyBalances";
    const SUMMARY: &'static str = "List the balances of a company's users";
    const DESCRIPTION: &'static str = "The wallets of the company's active users, oldest user first, at the current rate. The `Link` \
         header leads to the other pages; there is no total count.";
    const READ_QUERY: fn(&mut Query) = |query| _ = read_short_page(query);
    type View = View;
}

impl ReadOperation for ListBalances {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let company = company_in_path(reads, call)?.company;
        let page = call.parse_query(read_short_page)?;
        let mut ids = reads.list_active_user_ids_page(company.id, page.with_lookahead())?;
        let has_next = truncate_to_page(page, &mut ids);
        let wallets = reads.list_wallets_of_users(&ids)?;
        let users = ids.into_iter().zip(wallets).map(|(id, wallets)| UserBalances {
            id: WireValue(id),
            wallets: wallets.iter().map(|wallet| WalletView::from_wallet(wallet, company.rate)).collect(),
        });
        let view = View { id: WireValue(company.id), users: users.collect() };
        let links = Links::for_path(format!("/v1/companies/{}/users/balances", company.id));
        Ok(RenderedResponse::ok(&view)?.with_header("link", &links.to_header(page, has_next, None)))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CompanyBalances")]
pub(crate) struct View {
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    id: WireValue<CompanyId>,
    /// The active users, oldest first.
    users: Vec<UserBalances>,
}

#[derive(Serialize, JsonSchema)]
struct UserBalances {
    /// The user. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    id: WireValue<UserId>,
    /// The user's wallets: `user_wallet`, `peer_wallet`, and `manager_wallet` if the user is or was a manager.
    wallets: Vec<WalletView>,
}
