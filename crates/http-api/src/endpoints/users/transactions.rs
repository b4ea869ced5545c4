//! `GET /v1/users/{id}/transactions`: the transactions of one of a user's wallets, newest first.

use guerdon_api_types::WireValue;
use guerdon_domain::money::Points;
use guerdon_domain::ports::{AccountTransaction, Consistency, ReadTx};
use guerdon_domain::values::{Page, Timestamp, UserId};
use guerdon_domain::wallets::{Account, Direction, Reason, WalletType};
use schemars::JsonSchema;
use serde::Serialize;

use super::get::user_in_path;
use crate::operation::list::{Links, read_short_page, truncate_to_page};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

pub(crate) struct ListTransactions;

impl OperationDocs for ListTransactions {
    const NAME: &'static str = "listUserTransactions";
    const SUMMARY: &'static str = "List the transactions of a wallet";
    const DESCRIPTION: &'static str = "The transactions of one of the user's wallets, newest first. The points of a transaction are \
         those at the rate of its time and never change; after a change of rate they may not add up to \
         the balance.";
    const READ_QUERY: fn(&mut Query) = |query| _ = read_list_query(query);
    type View = View;
}

impl ReadOperation for ListTransactions {
    const CONSISTENCY: Consistency = Consistency::PerStatement;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let user = user_in_path(reads, call)?;
        let (wallet, page) = call.parse_query(read_list_query)?;
        let mut transactions =
            reads.list_transactions(Account::Wallet(wallet, user.id), page.with_lookahead())?;
        let has_next = truncate_to_page(page, &mut transactions);
        let path = format!("/v1/users/{}/transactions", user.id);
        let links = Links { filters: format!("type={}&", wallet.name()), ..Links::for_path(path) };
        let transactions = transactions.iter().map(TransactionView::from_transaction).collect();
        let view = View { id: WireValue(user.id), r#type: wallet.name(), transactions };
        Ok(RenderedResponse::ok(&view)?.with_header("link", &links.to_header(page, has_next, None)))
    }
}

fn read_list_query(query: &mut Query) -> Option<(WalletType, Page)> {
    let wallet = query.read_required("type");
    let page = read_short_page(query);
    wallet.zip(page)
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Transactions")]
pub(crate) struct View {
    /// The user. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    id: WireValue<UserId>,
    /// Which of the user's wallets. Example: `"peer_wallet"`
    #[schemars(with = "WireValue<WalletType>")]
    r#type: &'static str,
    /// The transactions, newest first.
    transactions: Vec<TransactionView>,
}

/// A movement of points (behaviour 17.5).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Transaction")]
pub(crate) struct TransactionView {
    /// `debit`: out of the wallet; `credit`: into it. Example: `"credit"`
    #[schemars(with = "WireValue<Direction>")]
    r#type: &'static str,
    /// The points at the rate of that time; the number never changes. Example: `10`
    #[schemars(with = "WireValue<Points>")]
    points: i64,
    /// Why the points moved. Example: `"recognition"`
    #[schemars(with = "WireValue<Reason>")]
    reason: &'static str,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: WireValue<Timestamp>,
}

impl TransactionView {
    pub(crate) fn from_transaction(transaction: &AccountTransaction) -> Self {
        Self {
            r#type: transaction.direction.name(),
            points: transaction.points.get(),
            reason: transaction.reason.name(),
            created_at: WireValue(transaction.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wallet_type_is_required() {
        let check = |text: &str, expected: Result<WalletType, &str>| {
            let parsed = Query::parse_with(text, read_list_query);
            let parsed =
                parsed.as_ref().map(|(wallet, _)| *wallet).map_err(|error| error.status_and_message().1);
            assert_eq!(parsed, expected, "{text:?}");
        };
        check("type=user_wallet", Ok(WalletType::User));
        check("type=peer_wallet&page=2", Ok(WalletType::Peer));
        check("type=manager_wallet&per_page=1000", Ok(WalletType::Manager));
        check("", Err("type is required and must be user_wallet, peer_wallet or manager_wallet"));
        check("type=", Err("type must be user_wallet, peer_wallet or manager_wallet"));
        check("type=USER_WALLET", Err("type must be user_wallet, peer_wallet or manager_wallet"));
        check("type=user_wallet&type=user_wallet", Err("type must not be repeated"));
        check(
            "type=x&page=0",
            Err("type must be user_wallet, peer_wallet or manager_wallet; page must be a positive integer"),
        );
    }
}
