//! `GET /v1/users/{id}/balances`: a user's wallets at the current rate.

use guerdon_api_types::WireValue;
use guerdon_api_types::views::WalletView;
use guerdon_domain::ports::{Consistency, ReadTx};
use guerdon_domain::values::UserId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{ApiError, Call, OperationDocs, ReadOperation, RenderedResponse, require_in_path};

pub(crate) struct GetBalances;

impl OperationDocs for GetBalances {
    const NAME: &'static str = "getUserBalances";
    const SUMMARY: &'static str = "Fetch the balances of a user";
    const DESCRIPTION: &'static str = "The user's wallets at the current rate.";
    type View = View;
}

impl ReadOperation for GetBalances {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let id = call.path_id("user")?;
        let balances = require_in_path(reads.find_balances(call.scope, id)?, "user")?;
        let wallets =
            balances.wallets.iter().map(|wallet| WalletView::from_wallet(wallet, balances.rate)).collect();
        RenderedResponse::ok(&View { id: WireValue(id), wallets })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Balances")]
pub(crate) struct View {
    /// The user. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    id: WireValue<UserId>,
    /// The user's wallets: `user_wallet`, `peer_wallet`, and `manager_wallet` if the user is or was a manager.
    wallets: Vec<WalletView>,
}
