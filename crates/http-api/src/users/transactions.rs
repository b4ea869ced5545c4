//! `GET /v1/users/{id}/transactions`: the movements of one of a user's wallets, newest first.

use guerdon_domain::ports::{Reads, StoreError};
use guerdon_domain::values::{Page, UserId};
use guerdon_domain::wallets::{Direction, Transaction, WalletType};
use serde::Serialize;

use super::get::user_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::error::ApiError;
use crate::operation::Read;
use crate::query::{Query, unless_faulty};
use crate::wire::{Moment, Shown};

/// Spec §8.
const PER_PAGE_MAX: i64 = 100;

pub(crate) struct Transactions;

impl Read for Transactions {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let user = user_in_path(reads, call)?;
        let (wallet, page) = parameters(&call.parameters()?)?;
        let found = reads.transactions(user.id, wallet, page)?;
        let links = links(user.id, wallet, page, has_next(reads, user.id, wallet, page, found.len())?);
        let transactions = found.iter().map(TransactionView::of).collect();
        let view = View { id: Shown(user.id), r#type: wallet.name(), transactions };
        Ok(Answer::ok(&view)?.with("link", &links))
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

/// Whether anything stands after a page; asked only where the page is full.
fn has_next(
    reads: &mut dyn Reads,
    user: UserId,
    wallet: WalletType,
    page: Page,
    found: usize,
) -> Result<bool, StoreError> {
    if i64::try_from(found).is_ok_and(|it| it < page.per_page()) {
        return Ok(false);
    }
    let after = page.number().checked_mul(page.per_page()).and_then(|it| it.checked_add(1));
    match after.and_then(|it| Page::new(it, 1)) {
        Some(after) => Ok(!reads.transactions(user, wallet, after)?.is_empty()),
        None => Ok(false),
    }
}

/// The `Link` header; without `last`, as no total is known (contract §3.4).
fn links(user: UserId, wallet: WalletType, page: Page, has_next: bool) -> String {
    let link = |relation: &str, number: i64| {
        let (wallet, per_page) = (wallet.name(), page.per_page());
        let path = format!("/v1/users/{user}/transactions");
        format!("<{path}?type={wallet}&page={number}&per_page={per_page}>; rel=\"{relation}\"")
    };
    let mut links = vec![link("first", 1)];
    if page.number() > 1 {
        links.push(link("prev", page.number() - 1));
    }
    if has_next {
        links.push(link("next", page.number().saturating_add(1)));
    }
    links.join(", ")
}

#[derive(Serialize)]
struct View {
    id: Shown<UserId>,
    r#type: &'static str,
    transactions: Vec<TransactionView>,
}

/// A movement (spec §2.6).
#[derive(Serialize)]
struct TransactionView {
    r#type: &'static str,
    points: i64,
    reason: &'static str,
    created_at: Moment,
}

impl TransactionView {
    fn of(transaction: &Transaction) -> Self {
        let direction = match transaction.direction {
            Direction::Debit => "debit",
            Direction::Credit => "credit",
        };
        Self {
            r#type: direction,
            points: transaction.points.get(),
            reason: transaction.reason.name(),
            created_at: Moment(transaction.created_at),
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

    #[test]
    fn links_name_the_neighbours_of_a_page() {
        let user = "0193a5c0-0000-7000-8000-000000000001".parse().unwrap();
        let relations = |number, has_next| {
            let all = links(user, WalletType::Peer, Page::new(number, 10).unwrap(), has_next);
            all.split(", ").map(|it| it.split("rel=").last().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(relations(1, false), ["\"first\""]);
        assert_eq!(relations(2, true), ["\"first\"", "\"prev\"", "\"next\""]);
        let first = links(user, WalletType::Peer, Page::new(1, 10).unwrap(), false);
        let path = "/v1/users/0193a5c0-0000-7000-8000-000000000001/transactions";
        assert_eq!(first, format!("<{path}?type=peer_wallet&page=1&per_page=10>; rel=\"first\""));
    }
}
