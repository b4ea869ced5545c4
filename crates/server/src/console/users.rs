//! Users: their wallets and last movements, without names and addresses.

use guerdon_console::model::{Movement, ObjectReference, User, UserWallet};
use guerdon_domain::any_provider;
use guerdon_domain::companies::Company;
use guerdon_domain::ports::{AccountTransaction, StoreError};
use guerdon_domain::users::User as UserRecord;
use guerdon_domain::values::{Page, UserId};
use guerdon_domain::wallets::{Account, Direction, Wallet, WalletType};

use super::{PageContext, provider_reference, to_utc};
use crate::commands::format_dollars;

const MOVEMENTS_MAX: i64 = 20;

pub(super) fn load_user(mut context: PageContext<'_>, id: &str) -> Result<Option<User>, StoreError> {
    let Ok(id) = id.parse::<UserId>() else { return Ok(None) };
    let Some(user) = any_provider::find_user(context.reads, id)? else { return Ok(None) };
    let Some(company) = any_provider::find_company(context.reads, user.company_id)? else {
        return Ok(None);
    };
    let names = context.provider_names()?;
    let wallets = context.reads.list_wallets(id)?;
    Ok(Some(User {
        id: id.to_string(),
        company: ObjectReference { id: company.id.to_string(), name: company.name.as_str().to_owned() },
        provider: provider_reference(&names, company.provider_id),
        rights: list_rights(&user),
        created_at: to_utc(user.created_at),
        updated_at: to_utc(user.updated_at),
        deleted_at: user.deleted_at.map(to_utc),
        movements: load_movements(&mut context, id, &wallets)?,
        wallets: wallets.iter().map(|wallet| to_wallet(wallet, &company)).collect(),
    }))
}

fn list_rights(user: &UserRecord) -> Vec<String> {
    let rights = [
        (user.profile.manager, "manager"),
        (user.profile.company_admin, "company administrator"),
        (user.profile.corporation_admin, "corporation administrator"),
    ];
    rights.into_iter().filter(|(has, _)| *has).map(|(_, name)| name.to_owned()).collect()
}

fn to_wallet(wallet: &Wallet, company: &Company) -> UserWallet {
    let points = wallet.points_at(company.rate);
    UserWallet {
        wallet: wallet.wallet_type.name().to_owned(),
        points: points.get(),
        dollars: format_dollars(points, company.rate),
        points_spent: wallet.points_spent(company.rate).get(),
    }
}

/// Returns the newest movements of all wallets, newest first.
fn load_movements(
    context: &mut PageContext<'_>,
    user: UserId,
    wallets: &[Wallet],
) -> Result<Vec<Movement>, StoreError> {
    let Some(page) = Page::new(1, MOVEMENTS_MAX) else { return Ok(Vec::new()) };
    let mut all: Vec<(WalletType, AccountTransaction)> = Vec::new();
    for wallet in wallets {
        let kind = wallet.wallet_type;
        let found = context.reads.list_transactions(Account::Wallet(kind, user), page)?;
        all.extend(found.into_iter().map(|transaction| (kind, transaction)));
    }
    all.sort_by_key(|(_, transaction)| std::cmp::Reverse(transaction.at));
    let to_movement = |(kind, transaction): &(WalletType, AccountTransaction)| Movement {
        at: to_utc(transaction.at),
        wallet: kind.name().to_owned(),
        is_credit: transaction.direction == Direction::Credit,
        points: transaction.points.get(),
        reason: transaction.reason.name().to_owned(),
    };
    Ok(all.iter().take(usize::try_from(MOVEMENTS_MAX).unwrap_or(0)).map(to_movement).collect())
}
