//! Changing the owner of a company.

use super::change::{UpdateCompany, UpdateCompanyError};
use crate::model::{CompanyWithOwner, Profile, User, full_name};
use crate::ports::{Accounts, Context, LockableRow, Locks, Lookup, ReadUsers, StoreError, Users};
use crate::users::open_wallets;
use crate::values::{EmailAddress, SingleLine, UserId};

/// Transfers ownership if another address is given, and renames the owner if another name is given. Returns
/// the company with these changes; the caller writes it.
pub(super) fn update_owner<T: Accounts + Locks + Users + ?Sized>(
    tx: &mut T,
    found: CompanyWithOwner,
    update: &UpdateCompany,
    context: &Context<'_>,
) -> Result<CompanyWithOwner, UpdateCompanyError> {
    let other_name = update.owner_name.as_ref().filter(|owner_name| owner_name.text != found.owner_name());
    let other_name = other_name.map(|name| name.clone().into_parts()).transpose();
    let other_name = other_name.map_err(UpdateCompanyError::OwnerName)?;
    let other_email =
        update.owner_email.as_ref().filter(|owner_email| owner_email.folded() != found.owner_email.folded());
    if other_name.is_none() && other_email.is_none() {
        return Ok(found);
    }
    let mut owner = match other_email {
        None => lock_owner(tx, &found, found.company.owner_id, &found.owner_email)?,
        Some(email) => match tx.find_active_user_by_email(found.company.id, email)? {
            Some(id) => lock_owner(tx, &found, id, email)?,
            None => return create_owner(tx, found, email, other_name, context),
        },
    };
    let renamed = match other_name {
        Some((first, last)) => {
            let differs = full_name(&first, last.as_ref()) != owner.full_name();
            if differs {
                (owner.profile.first_name, owner.profile.last_name) = (first, last);
            }
            differs
        }
        None => false,
    };
    if renamed || !owner.profile.company_admin {
        owner.profile.company_admin = true;
        owner.updated_at = context.clock.now();
        tx.update_user(&owner)?;
    }
    Ok(with_owner(found, owner, context))
}

/// Locks and reads the active user with this id and address. If the user has changed since it was looked up,
/// the transaction has conflicted with another one.
fn lock_owner<T: Locks + ReadUsers + ?Sized>(
    tx: &mut T,
    found: &CompanyWithOwner,
    id: UserId,
    email: &EmailAddress,
) -> Result<User, StoreError> {
    tx.lock_row(LockableRow::User(id))?;
    match tx.find_user(found.company.provider_id, id)? {
        Lookup::Own(user) if user.deleted_at.is_none() && user.profile.email == *email => Ok(user),
        Lookup::Own(_) | Lookup::Absent | Lookup::Foreign => Err(tx.abort_for_retry()),
    }
}

/// Creates the new owner, with the given name, or with the name of the old owner if none is given.
fn create_owner<T: Accounts + Locks + Users + ?Sized>(
    tx: &mut T,
    found: CompanyWithOwner,
    email: &EmailAddress,
    name: Option<(SingleLine, Option<SingleLine>)>,
    context: &Context<'_>,
) -> Result<CompanyWithOwner, UpdateCompanyError> {
    let now = context.clock.now();
    let (first, last) =
        name.unwrap_or_else(|| (found.owner_first_name.clone(), found.owner_last_name.clone()));
    let mut profile = Profile::with_name(email.clone(), first, last);
    profile.company_admin = true;
    let owner = User::new(UserId::from_uuid(context.ids.next_id()), found.company.id, profile, now);
    if !tx.insert_user(&owner)? {
        return Err(tx.abort_for_retry().into()); // another transaction has just taken the address
    }
    open_wallets(tx, &owner, now)?;
    Ok(with_owner(found, owner, context))
}

/// Sets the owner of the company. Advances `updated_at` if this changes the owner that the API shows.
fn with_owner(mut found: CompanyWithOwner, owner: User, context: &Context<'_>) -> CompanyWithOwner {
    let shown = (found.company.owner_id, found.owner_name());
    if shown != (owner.id, owner.full_name()) {
        found.company.updated_at = context.clock.now();
    }
    found.company.owner_id = owner.id;
    CompanyWithOwner::new(found.company, owner.profile)
}
