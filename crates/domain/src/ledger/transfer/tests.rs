use uuid::Uuid;

use super::*;
use crate::fixture::{COMPANY, points, user_id};
use crate::wallets::AccountKind::{
    Funding, ManagerWallet, PeerWallet, Redeemed, Reserve, Rounding, Transit, UserWallet,
};
use crate::wallets::WalletType;

const WALLETS: [AccountKind; 3] = [UserWallet, PeerWallet, ManagerWallet];

fn account_of(kind: AccountKind, company: CompanyId) -> Account {
    match kind {
        UserWallet => Account::Wallet(WalletType::User, user_id(1)),
        PeerWallet => Account::Wallet(WalletType::Peer, user_id(1)),
        ManagerWallet => Account::Wallet(WalletType::Manager, user_id(1)),
        Reserve => Account::Reserve(company),
        Transit => Account::Transit(company),
        Funding => Account::Funding(company),
        Redeemed => Account::Redeemed(company),
        Rounding => Account::Rounding(company),
    }
}

/// A transfer of ten points, or for a rounding, of the largest amount within the tolerance.
fn transfer_between(reason: Reason, debit: AccountKind, credit: AccountKind) -> Transfer {
    let rate = PointsPerDollar::new(50).unwrap();
    let is_rounding = reason == Reason::Rounding;
    let points = points(if is_rounding { 0 } else { 10 });
    Transfer {
        entry_id: JournalEntryId::from_uuid(Uuid::from_u128(7)),
        leg: u32::from(!is_rounding),
        company: COMPANY,
        debit: (account_of(debit, COMPANY), 1),
        credit: (account_of(credit, COMPANY), 1),
        amount: if is_rounding { ROUNDING_SHORTFALL_MAX } else { rate.to_amount(points).unwrap() },
        points,
        rate,
        reason,
        at: Timestamp::UNIX_EPOCH,
    }
}

fn expect_broken(transfer: &Transfer, rule: &str) {
    let expected = LedgerError::Broken(format!("broken rule: {rule}"));
    assert_eq!(transfer.check_rules(), Err(expected), "{transfer:?}");
}

/// The kinds of accounts between which points move for this reason.
fn allowed_pairs(reason: Reason) -> Vec<(AccountKind, AccountKind)> {
    let from_wallets = WALLETS.map(|wallet| (wallet, Reserve));
    let to_wallets = WALLETS.map(|wallet| (Reserve, wallet));
    match reason {
        Reason::Recognition => [PeerWallet, ManagerWallet, Reserve].map(|payer| (payer, UserWallet)).into(),
        Reason::Redemption => vec![(UserWallet, Redeemed)],
        Reason::Refund => vec![(Redeemed, UserWallet)],
        Reason::PointDistribution => {
            let in_steps = WALLETS.map(|wallet| (Transit, wallet));
            [&to_wallets[..], &in_steps, &[(Reserve, Transit), (Transit, Reserve)]].concat()
        }
        Reason::UserDeleted => from_wallets.into(),
        Reason::Override => [from_wallets, to_wallets].concat(),
        Reason::Deposit => vec![(Funding, Reserve)],
        Reason::Withdrawal => vec![(Reserve, Funding)],
        Reason::Rounding => {
            [&WALLETS[..], &[Reserve]].concat().iter().map(|payer| (Rounding, *payer)).collect()
        }
    }
}

#[test]
fn points_move_only_between_accounts_that_match_the_reason() {
    for reason in Reason::ALL.iter().copied() {
        let allowed = allowed_pairs(reason);
        for debit in AccountKind::ALL.iter().copied() {
            for credit in AccountKind::ALL.iter().copied() {
                let transfer = transfer_between(reason, debit, credit);
                if allowed.contains(&(debit, credit)) {
                    assert_eq!(transfer.check_rules(), Ok(()), "{transfer:?}");
                } else {
                    expect_broken(&transfer, "the accounts of a transfer match its reason");
                }
            }
        }
    }
}

#[test]
fn a_transfer_uses_accounts_of_its_own_company() {
    let elsewhere = CompanyId::from_uuid(Uuid::from_u128(9));
    let deposit = transfer_between(Reason::Deposit, Funding, Reserve);
    let from_elsewhere = Transfer { debit: (account_of(Funding, elsewhere), 1), ..deposit.clone() };
    expect_broken(&from_elsewhere, "a transfer uses accounts of its own company");
    let to_elsewhere = Transfer { credit: (account_of(Reserve, elsewhere), 1), ..deposit };
    expect_broken(&to_elsewhere, "a transfer uses accounts of its own company");
}

#[test]
fn the_amount_is_positive_and_matches_the_points() {
    let refund = transfer_between(Reason::Refund, Redeemed, UserWallet);
    expect_broken(
        &Transfer { amount: Amount::ZERO, ..refund.clone() },
        "the amount of a transfer is positive",
    );
    let other_amount = Amount::from_nanodollars(1);
    assert_eq!(
        Transfer { amount: other_amount, ..refund }.check_rules(),
        Ok(()),
        "the rate may have changed"
    );
    let redemption = transfer_between(Reason::Redemption, UserWallet, Redeemed);
    let rule = "the amount of a transfer matches its points and rate";
    expect_broken(&Transfer { amount: other_amount, ..redemption }, rule);
}

#[test]
fn only_payments_of_several_receivers_have_further_legs() {
    for reason in Reason::ALL.iter().copied().filter(|reason| *reason != Reason::Rounding) {
        let (debit, credit) = allowed_pairs(reason)[0];
        let second = Transfer { leg: 2, ..transfer_between(reason, debit, credit) };
        if matches!(reason, Reason::Recognition | Reason::PointDistribution | Reason::UserDeleted) {
            assert_eq!(second.check_rules(), Ok(()), "{second:?}");
        } else {
            expect_broken(&second, "a transfer for this reason is leg 1");
        }
    }
}

#[test]
fn a_rounding_moves_no_points_and_at_most_the_tolerance() {
    let rounding = transfer_between(Reason::Rounding, Rounding, PeerWallet);
    let more = ROUNDING_SHORTFALL_MAX.checked_add(Amount::from_nanodollars(1)).unwrap();
    expect_broken(&Transfer { amount: more, ..rounding.clone() }, "a rounding is within the tolerance");
    expect_broken(&Transfer { points: points(1), ..rounding }, "a rounding is within the tolerance");
}
