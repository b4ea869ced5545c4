//! Creating a user (behaviour 13).

use std::collections::HashSet;

use crate::model::{Company, Profile, User};
use crate::ports::{
    Accounts, Context, DeniedReference, INSERTED_USERS_MAX, LockableRow, Locks, ReadCompanies, StoreError,
    Timestamp, Users,
};
use crate::users::open_wallets::{open_wallets, wallets_of};
use crate::values::{CompanyId, ProviderId, UserId};
use crate::wallets::Account;

/// Why a user was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateUserError {
    /// The company cannot be used.
    #[error(transparent)]
    Denied(#[from] DeniedReference),
    /// An active user of the company has the address.
    #[error("email has already been taken")]
    EmailTaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates a user with its wallets. `corporation_admin` is stored as false outside a corporation.
pub fn create<T>(
    tx: &mut T,
    scope: ProviderId,
    company_id: CompanyId,
    profile: &Profile,
    context: &Context<'_>,
) -> Result<User, CreateUserError>
where
    T: Accounts + Locks + ReadCompanies + Users + ?Sized,
{
    let company = lock_company(tx, scope, company_id, profile.corporation_admin)?;
    let now = context.clock.now();
    let user = new_user(&company, profile.clone(), UserId::from_uuid(context.ids.next_id()), now);
    if !tx.insert_user(&user)? {
        return Err(CreateUserError::EmailTaken);
    }
    open_wallets(tx, &user, now)?;
    Ok(user)
}

/// Creates several users with their wallets, in a few statements. Returns for each profile whether its user
/// was created: false if an active user of the company has the address.
pub fn create_many<T>(
    tx: &mut T,
    scope: ProviderId,
    company_id: CompanyId,
    profiles: Vec<Profile>,
    context: &Context<'_>,
) -> Result<Vec<bool>, CreateUserError>
where
    T: Accounts + Locks + ReadCompanies + Users + ?Sized,
{
    let company =
        lock_company(tx, scope, company_id, profiles.iter().any(|profile| profile.corporation_admin))?;
    let now = context.clock.now();
    let to_user = |profile| new_user(&company, profile, UserId::from_uuid(context.ids.next_id()), now);
    let users: Vec<User> = profiles.into_iter().map(to_user).collect();
    let mut inserted = HashSet::new();
    for chunk in users.chunks(INSERTED_USERS_MAX) {
        inserted.extend(tx.insert_users(chunk)?);
        let wallets: Vec<Account> =
            chunk.iter().filter(|user| inserted.contains(&user.id)).flat_map(wallets_of).collect();
        tx.open_accounts(company_id, &wallets, now)?;
    }
    Ok(users.iter().map(|user| inserted.contains(&user.id)).collect())
}

/// Locks and reads the company. No other transaction can then change what a new user depends on: the
/// company's provider and, for an administrator of its corporation, the corporation.
fn lock_company<T: Locks + ReadCompanies + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: CompanyId,
    with_corporation: bool,
) -> Result<Company, CreateUserError> {
    // An absent company is reported first: the lock fails for a company that was handed over to another cell.
    tx.find_company(scope, id)?.or_denied_reference("company_id", id.as_uuid())?;
    if with_corporation {
        tx.lock_row(LockableRow::Company(id))?;
    } else {
        tx.lock_provider_shared(id)?;
    }
    Ok(tx.find_company(scope, id)?.or_denied_reference("company_id", id.as_uuid())?.company)
}

fn new_user(company: &Company, mut profile: Profile, id: UserId, now: Timestamp) -> User {
    profile.corporation_admin &= company.corporation_id.is_some();
    User::new(id, company.id, profile, now)
}
