//! `GET /v1/users/{id}/transactions`: the movements of one of a user's wallets, newest first.

use guerdon_domain::money::Points;
use guerdon_domain::ports::{Consistency, Reads};
use guerdon_domain::values::{Page, Timestamp, UserId};
use guerdon_domain::wallets::{Account, Direction, Reason, Transaction, WalletType};
use schemars::JsonSchema;
use serde::Serialize;

use super::get::user_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{Links, cut, short_page};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::Shown;
use guerdon_api_types::parameter::Parameter;

pub(crate) struct Transactions;

impl Described for Transactions {
    const NAME: &'static str = "listUserTransactions";
    const SUMMARY: &'static str = "List the transactions of a wallet";
    const TEXT: &'static str = "The transactions of one of the user's wallets, newest first. The points of a transaction are \
         those at the rate of its time and never change; after a change of rate they may not add up to \
         the balance.";
    type View = View;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(parameters)
    }
}

impl Read for Transactions {
    const CONSISTENCY: Consistency = Consistency::PerStatement;

    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let user = user_in_path(reads, call)?;
        let (wallet, page) = call.query(parameters)?;
        let mut found = reads.transactions(Account::Wallet(wallet, user.id), page.and_one_more())?;
        let has_next = cut(page, &mut found);
        let path = format!("/v1/users/{}/transactions", user.id);
        let links = Links { parameter: Some(("type", wallet.name())), ..Links::to(path) };
        let transactions = found.iter().map(TransactionView::of).collect();
        let view = View { id: Shown(user.id), r#type: wallet.name(), transactions };
        Ok(Answer::ok(&view)?.with("link", &links.header(page, has_next, None)))
    }
}

fn parameters(query: &mut Query) -> Option<(WalletType, Page)> {
    let wallet = query.required("type");
    let page = short_page(query);
    wallet.zip(page)
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Transactions")]
pub(crate) struct View {
    /// The user. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    id: Shown<UserId>,
    /// Which of the user's wallets. Example: `"peer_wallet"`
    #[schemars(with = "Shown<WalletType>")]
    r#type: &'static str,
    /// The transactions, newest first.
    transactions: Vec<TransactionView>,
}

/// A movement (behaviour 17.5).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Transaction")]
pub(crate) struct TransactionView {
    /// `debit`: out of the wallet; `credit`: into it. Example: `"credit"`
    #[schemars(with = "Shown<Direction>")]
    r#type: &'static str,
    /// The points at the rate of the time; never changes. Example: `10`
    #[schemars(with = "Shown<Points>")]
    points: i64,
    /// Why the points moved. Example: `"recognition"`
    #[schemars(with = "Shown<Reason>")]
    reason: &'static str,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: Shown<Timestamp>,
}

impl TransactionView {
    pub(crate) fn of(transaction: &Transaction) -> Self {
        let direction = match transaction.direction {
            Direction::Debit => "debit",
            Direction::Credit => "credit",
        };
        Self {
            r#type: direction,
            points: transaction.points.get(),
            reason: transaction.reason.name(),
            created_at: Shown(transaction.created_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wallet_type_must_be_named() {
        let check = |text: &str, expected: Result<WalletType, &str>| {
            let read = Query::read(text, parameters);
            let read = read.as_ref().map(|(wallet, _)| *wallet).map_err(|refusal| refusal.told().1);
            assert_eq!(read, expected, "{text:?}");
        };
        check("type=user_wallet", Ok(WalletType::User));
        check("type=peer_wallet&page=2", Ok(WalletType::Peer));
        check("type=manager_wallet&per_page=1000", Ok(WalletType::Manager));
        check("", Err("type is required and must be user_wallet, peer_wallet or manager_wallet"));
        check("type=", Err("type must be user_wallet, peer_wallet or manager_wallet"));
        check("type=USER_WALLET", Err("type must be user_wallet, peer_wallet or manager_wallet"));
        check("type=user_wallet&type=user_wallet", Err("type must be given once"));
        check(
            "type=x&page=0",
            Err("type must be user_wallet, peer_wallet or manager_wallet; page must be an integer from 1"),
        );
    }
}
