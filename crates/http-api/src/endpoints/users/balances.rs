//! `GET /v1/users/{id}/balances`: a user's wallets at today's rate.

use guerdon_domain::ports::{Consistency, Reads};
use guerdon_domain::values::UserId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};
use crate::operation::{Described, Read};
use guerdon_api_types::Shown;
use guerdon_api_types::views::WalletView;

pub(crate) struct Balances;

impl Described for Balances {
    const NAME: &'static str = "getUserBalances";
    const SUMMARY: &'static str = "Fetch the balances of a user";
    const TEXT: &'static str = "The user's wallets at the current rate.";
    type View = View;
}

impl Read for Balances {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let id = call.path_id("user")?;
        let found = in_path(reads.balances(call.scope, id)?, "user")?;
        let wallets = found.wallets.iter().map(|wallet| WalletView::of(wallet, found.rate)).collect();
        Answer::ok(&View { id: Shown(id), wallets })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Balances")]
pub(crate) struct View {
    /// The user. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    id: Shown<UserId>,
    /// The user's wallets: `user_wallet`, `peer_wallet`, and `manager_wallet` if the user is or was a manager.
    wallets: Vec<WalletView>,
}
