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
    UnfinishedDistribution,
    #[error("the company is not handed over, so there is nothing to reopen")]
    NotHandedOver,
    #[error(
        "this is not the release code of the hand-over: run `guerdon company import FILE --refuse` in the target \
         cell; it prints the code and ensures that the company never opens there"
    )]
    WrongCode,
    #[error(
        "another export has continued this hand-over, or the company was reopened: the file was not written"
    )]
    Superseded,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Waits for requests in progress, closes a company and records a hand-over with this token and release code. If the
/// company is already closed, continues its hand-over: returns the hand-over unchanged if its archive is complete;
/// otherwise replaces its token and release code. Earlier callers can then no longer complete an archive, and no
/// archive contains a release code that they have shown.
pub fn hand_over<T: AuditLog + Companies + CompanyMoves + Locks + ?Sized>(
    tx: &mut T,
    id: CompanyId,
    token: Uuid,
    release_code: &str,
    context: &Context<'_>,
) -> Result<CompanyMove, HandOverError> {
    tx.lock_provider_exclusive(id)?;
    if let Some(existing) = tx.find_latest_hand_over(id)?.filter(|latest| latest.completed_at.is_none()) {
        return continue_hand_over(tx, existing, token, release_code, context);
    }
    tx.lock_row(LockableRow::Company(id))?;
    let mut company = any_provider::find_company(tx, id)?.ok_or(HandOverError::NoSuchCompany)?;
    if tx.has_unfinished_distribution(id)? {
        return Err(HandOverError::UnfinishedDistribution);
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
        archived_at: None,
        completed_at: None,
    };
    tx.insert_company_move(&outgoing)?;
    Ok(outgoing)
}

fn continue_hand_over<T: AuditLog + Companies + CompanyMoves + ?Sized>(
    tx: &mut T,
    existing: CompanyMove,
    token: Uuid,
    release_code: &str,
    context: &Context<'_>,
) -> Result<CompanyMove, HandOverError> {
    if existing.archived_at.is_some() {
        return Ok(existing);
    }
    let company = any_provider::find_company(tx, existing.company_id)?.ok_or(HandOverError::NoSuchCompany)?;
    if !tx.replace_move_token(existing.token, token, release_code)? {
        return Err(HandOverError::Superseded);
    }
    let entry = context.new_audit_entry(Action::CompanyHandedOver);
    let entry = entry.with_company(company.id).with_provider(company.provider_id).with_object(token);
    tx.record_audit_entry(&entry)?;
    Ok(CompanyMove { token, release_code: Some(release_code.to_owned()), ..existing })
}

/// Records that an archive of a hand-over is complete. Call this before you rename the temporary file to its final
/// name, and delete the file if this fails: otherwise another cell could open the company although this cell may
/// reopen it.
pub fn record_archive<T: CompanyMoves + Locks + ?Sized>(
    tx: &mut T,
    outgoing: &CompanyMove,
    context: &Context<'_>,
) -> Result<(), HandOverError> {
    tx.lock_provider_exclusive(outgoing.company_id)?;
    if tx.record_move_archived(outgoing.token, context.clock.now())? {
        Ok(())
    } else {
        Err(HandOverError::Superseded)
    }
}

/// Reopens a company that was handed over, with the release code of its hand-over. A second call with the same code
/// changes nothing, and fails if the company has been handed over again.
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
        return if company.handed_over_at.is_none() { Ok(()) } else { Err(HandOverError::WrongCode) };
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
