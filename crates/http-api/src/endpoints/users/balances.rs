//! `GET /v1/users/{id}/balances`: a user's wallets at today's rate.

use guerdon_domain::ports::Reads;
use guerdon_domain::values::UserId;
use serde::Serialize;

use super::get::user_in_path;
use super::wallet_view::WalletView;
use crate::operation::Read;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::wire::Shown;

pub(crate) struct Balances;

impl Read for Balances {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let user = user_in_path(reads, call)?;
        let rate = reads.company(call.scope, user.company_id)?.named("company_id")?.company.rate;
        let wallets = reads.wallets(user.id)?;
        let wallets = wallets.iter().map(|it| WalletView::of(it, rate)).collect();
        Answer::ok(&View { id: Shown(user.id), wallets })
    }
}

#[derive(Serialize)]
struct View {
    id: Shown<UserId>,
    wallets: Vec<WalletView>,
}
