//! Creating a user (behaviour 13).

use crate::model::{Profile, User};
use crate::ports::{Accounts, Context, Denied, Locks, ReadCompanies, Row, StoreError, Users};
use crate::users::open_wallets;
use crate::values::{CompanyId, ProviderId, UserId};

/// Why a user was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateUserError {
    /// The company cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// An active user of the company has the address.
    #[error("email has already been taken")]
    EmailTaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates a user with its wallets. `corporation_admin` is kept as false outside any corporation.
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
    if profile.corporation_admin {
        tx.hold(Row::Company(company_id))?; // so that it does not leave its corporation meanwhile
    } else {
        tx.keep_provider(company_id)?;
    }
    let company = tx.company(scope, company_id)?.named("company_id")?.company;
    let now = context.clock.now();
    let mut profile = profile.clone();
    profile.corporation_admin &= company.corporation_id.is_some();
    let id = UserId::from_uuid(context.ids.next());
    let user = User { id, company_id, profile, created_at: now, updated_at: now, deleted_at: None };
    if !tx.insert_user(&user)? {
        return Err(CreateUserError::EmailTaken);
    }
    open_wallets(tx, &user, now)?;
    Ok(user)
}
