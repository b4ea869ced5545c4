//! Deleting a user (behaviour 13.4).

use crate::model::{Act, Company};
use crate::ports::{
    Accounts, Causes, Context, Denied, Locks, Moved, Payment, ReadCompanies, Row, StoreError, Users,
};
use crate::values::{ProviderId, UserId};
use crate::wallets::{Account, Reason};

/// Why a user was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteUserError {
    /// The user cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The company's owner stays until ownership has moved.
    #[error("the owner of a company cannot be deleted until ownership has moved")]
    IsOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Deletes a user; the funds of each wallet return to the company's reserve, once. Deleting again changes nothing.
pub fn delete<T>(
    tx: &mut T,
    scope: ProviderId,
    id: UserId,
    context: &Context<'_>,
) -> Result<(), DeleteUserError>
where
    T: Accounts + Causes + Locks + ReadCompanies + Users + ?Sized,
{
    let user = tx.user(scope, id)?.named("id")?;
    tx.hold(Row::Company(user.company_id))?; // so that ownership cannot move to the user meanwhile
    if user.deleted_at.is_some() {
        return Ok(());
    }
    let company = tx.company(scope, user.company_id)?.named("company_id")?.company;
    if company.owner_id == id {
        return Err(DeleteUserError::IsOwner);
    }
    if !tx.mark_user_deleted(id, context.clock.now())? {
        return Ok(());
    }
    Ok(return_funds(tx, &company, id, context)?)
}

fn return_funds<T: Accounts + Causes + ?Sized>(
    tx: &mut T,
    company: &Company,
    user: UserId,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let mut cause = context.cause(company, Act::Deletion { user, wallets: 0 });
    let payment = Payment {
        company: company.id,
        cause: cause.id,
        reason: Reason::UserDeleted,
        rate: company.rate,
        moved: Moved::Everything { wallets: &Account::of_user(user), to: Account::Reserve(company.id) },
        at: cause.created_at,
    };
    let wallets = tx.pay(&payment)?.certain()?.transfers;
    cause.act = Act::Deletion { user, wallets };
    tx.record(&cause)?;
    Ok(())
}
