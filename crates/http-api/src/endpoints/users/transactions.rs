//! `GET /v1/users/{id}/transactions`: the movements of one of a user's wallets, newest first.

use guerdon_domain::ports::Reads;
use guerdon_domain::values::{Page, Timestamp, UserId};
use guerdon_domain::wallets::{Account, Direction, Transaction, WalletType};
use serde::Serialize;

use super::get::user_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{Links, cut};
use crate::operation::query::{Query, unless_faulty};
use crate::operation::wire::Shown;
use crate::operation::{Asks, Read};

/// The most on a page (behaviour 6.1).
const PER_PAGE_MAX: i64 = 100;

pub(crate) struct Transactions;

impl Read for Transactions {
    const ASKS: Asks = Asks::OfAnyMoment;

    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let user = user_in_path(reads, call)?;
        let (wallet, page) = parameters(&call.parameters()?)?;
        let mut found = reads.transactions(Account::Wallet(wallet, user.id), page.and_one_more())?;
        let has_next = cut(page, &mut found);
        let path = format!("/v1/users/{}/transactions", user.id);
        let links = Links { parameter: Some(("type", wallet.name())), ..Links::to(path) };
        let transactions = found.iter().map(TransactionView::of).collect();
        let view = View { id: Shown(user.id), r#type: wallet.name(), transactions };
        Ok(Answer::ok(&view)?.with("link", &links.header(page, has_next, None)))
    }
}

fn parameters(query: &Query) -> Result<(WalletType, Page), ApiError> {
    let mut faults = Vec::new();
    let wallet = wallet_type(query, &mut faults);
    let page = query.page(PER_PAGE_MAX, &mut faults);
    unless_faulty(wallet.zip(page), &faults)
}

fn wallet_type(query: &Query, faults: &mut Vec<String>) -> Option<WalletType> {
    let faults_before = faults.len();
    let named = query.one("type", faults);
    let wallet = named.and_then(WalletType::from_name);
    if wallet.is_none() && faults.len() == faults_before {
        let tail = if named.is_some() { "must be" } else { "is required:" };
        faults.push(format!("type {tail} user_wallet, peer_wallet or manager_wallet"));
    }
    wallet
}

#[derive(Serialize)]
struct View {
    id: Shown<UserId>,
    r#type: &'static str,
    transactions: Vec<TransactionView>,
}

/// A movement (behaviour 17.5).
#[derive(Serialize)]
pub(crate) struct TransactionView {
    r#type: &'static str,
    points: i64,
    reason: &'static str,
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
            let query = Query::parse(text).unwrap();
            let read = parameters(&query);
            let read = read.as_ref().map(|(wallet, _)| *wallet).map_err(|refusal| refusal.told().1);
            assert_eq!(read, expected, "{text:?}");
        };
        check("type=user_wallet", Ok(WalletType::User));
        check("type=peer_wallet&page=2", Ok(WalletType::Peer));
        check("type=manager_wallet&per_page=1000", Ok(WalletType::Manager));
        check("", Err("type is required: user_wallet, peer_wallet or manager_wallet"));
        check("type=", Err("type must be user_wallet, peer_wallet or manager_wallet"));
        check("type=USER_WALLET", Err("type must be user_wallet, peer_wallet or manager_wallet"));
        check("type=user_wallet&type=user_wallet", Err("type must be given once"));
        check(
            "type=x&page=0",
            Err("type must be user_wallet, peer_wallet or manager_wallet; page must be an integer from 1"),
        );
    }
}
