//! Deleting a user (spec §3, contract §4.6).

use crate::ports::{Context, Denied, Row, StoreError, Tx};
use crate::values::{ProviderId, TransferId, UserId};

/// Why a user was not deleted.
#[derive(Debug, thiserror::Error)]
pub enum DeleteUserError {
    /// The user cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The company's owner stays until ownership has moved.
    #[error("the owner of a company cannot be deleted until ownership has moved")]
    IsOwner,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Deletes a user; the funds of each wallet return to the company's reserve, once. Deleting again changes nothing.
pub fn delete(
    tx: &mut dyn Tx,
    scope: ProviderId,
    id: UserId,
    context: &Context<'_>,
) -> Result<(), DeleteUserError> {
    let user = tx.user(scope, id)?.named("id")?;
    tx.hold(Row::Company(user.company_id))?; // so that ownership cannot move to the user meanwhile
    if user.deleted_at.is_some() {
        return Ok(());
    }
    let company = tx.company(scope, user.company_id)?.named("company_id")?.company;
    if company.owner_id == id {
        return Err(DeleteUserError::IsOwner);
    }
    let now = context.clock.now();
    if !tx.mark_user_deleted(id, now)? {
        return Ok(());
    }
    let transfers = [(); 3].map(|()| TransferId::from_uuid(context.ids.next()));
    tx.close_wallets(company.id, id, company.rate, transfers, now)?;
    Ok(())
}
