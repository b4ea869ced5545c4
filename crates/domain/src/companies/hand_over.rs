//! Hands a company over to another cell, and reopens it. A company is open in at most one cell: the source closes it
//! before its archive can be imported, and reopens it only with a code that the target prints when it refuses the
//! archive permanently.

use uuid::Uuid;

use crate::any_provider;
use crate::model::{Action, CompanyMove, MoveDirection};
use crate::ports::{AuditLog, Companies, CompanyMoves, Context, LockableRow, Locks, StoreError};
use crate::values::CompanyId;

/// Why a company was not handed over or reopened.
#[derive(Debug, thiserror::Error)]
pub enum HandOverError {
    #[error("no company has this id")]
    NoSuchCompany,
    #[error("a distribution of the company is still being paid: try again when it has finished")]
    DistributionInProgress,
    #[error("the company is not handed over, so there is nothing to reopen")]
    NotHandedOver,
    #[error(
        "this is not the release code of the hand-over: run `guerdon company import FILE --refuse` in the target \
         cell; it prints the code and ensures that the company never opens there"
    )]
    WrongCode,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Waits for requests in progress, closes a company and records a hand-over with this token and release code. If the
/// company is already closed, returns the existing hand-over, so that a repeated call continues the same move.
pub fn hand_over<T: AuditLog + Companies + CompanyMoves + Locks + ?Sized>(
    tx: &mut T,
    id: CompanyId,
    (token, release_code): (Uuid, &str),
    context: &Context<'_>,
) -> Result<CompanyMove, HandOverError> {
    tx.lock_provider_exclusive(id)?;
    if let Some(existing) = tx.find_latest_hand_over(id)?.filter(|latest| latest.completed_at.is_none()) {
        return Ok(existing);
    }
    tx.lock_row(LockableRow::Company(id))?;
    let mut company = any_provider::find_company(tx, id)?.ok_or(HandOverError::NoSuchCompany)?;
    if tx.has_distribution_in_progress(id)? {
        return Err(HandOverError::DistributionInProgress);
    }
    let now = context.clock.now();
    let entry = context.new_audit_entry(Action::CompanyHandedOver);
    let entry = entry.with_company(id).with_provider(company.provider_id).with_object(token);
    tx.record_audit_entry(&entry)?;
    company.handed_over_at = Some(now);
    tx.update_company(&company)?;
    tx.hand_over_deliveries(id, company.provider_id)?;
    let outgoing = CompanyMove {
        token,
        company_id: id,
        direction: MoveDirection::Outgoing,
        release_code: Some(release_code.to_owned()),
        created_at: now,
        completed_at: None,
    };
    tx.insert_company_move(&outgoing)?;
    Ok(outgoing)
}

/// Reopens a company that was handed over, with the release code of its hand-over. A second call with the same code
/// changes nothing.
pub fn reopen<T: AuditLog + Companies + CompanyMoves + Locks + ?Sized>(
    tx: &mut T,
    id: CompanyId,
    release_code: &str,
    context: &Context<'_>,
) -> Result<(), HandOverError> {
    tx.lock_provider_exclusive(id)?;
    let mut company = any_provider::find_company(tx, id)?.ok_or(HandOverError::NoSuchCompany)?;
    let outgoing = tx.find_latest_hand_over(id)?.ok_or(HandOverError::NotHandedOver)?;
    if outgoing.release_code.as_deref() != Some(release_code) {
        return Err(HandOverError::WrongCode);
    }
    if outgoing.completed_at.is_some() {
        return Ok(());
    }
    let now = context.clock.now();
    let entry = context.new_audit_entry(Action::CompanyReopened);
    let entry = entry.with_company(id).with_provider(company.provider_id).with_object(outgoing.token);
    tx.record_audit_entry(&entry)?;
    company.handed_over_at = None;
    tx.update_company(&company)?;
    tx.take_back_deliveries(id, now)?;
    Ok(tx.complete_company_move(outgoing.token, now)?)
}
