//! Handing a company to another provider (behaviour 12.4, 23.10).

use crate::look_up;
use crate::model::Act;
use crate::ports::{Causes, Companies, Context, Locks, ReadProviders, Row, StoreError, Users};
use crate::values::{CompanyId, ProviderId};

/// Why a company was not handed on.
#[derive(Debug, thiserror::Error)]
pub enum MoveCompanyError {
    #[error("no company has this id")]
    NoSuchCompany,
    #[error("no provider has this id")]
    NoSuchProvider,
    /// It is the provider's already.
    #[error("the company belongs to this provider already")]
    SameProvider,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Hands a company with all that is in it to another provider. It leaves its corporation, which stays with the old
/// one, and so nobody administers that any more; events that were written before stay with the old provider too. Waits
/// for requests under way, so that none writes for the old provider afterwards.
pub fn move_to_provider<T>(
    tx: &mut T,
    id: CompanyId,
    to: ProviderId,
    context: &Context<'_>,
) -> Result<(), MoveCompanyError>
where
    T: Causes + Companies + Locks + ReadProviders + Users + ?Sized,
{
    tx.take_company_over(id)?;
    tx.hold(Row::Company(id))?;
    let mut company = look_up::company(tx, id)?.ok_or(MoveCompanyError::NoSuchCompany)?;
    if tx.provider(to)?.is_none() {
        return Err(MoveCompanyError::NoSuchProvider);
    }
    if company.provider_id == to {
        return Err(MoveCompanyError::SameProvider);
    }
    tx.record(&context.cause(&company, Act::Move { to }))?;
    let now = context.clock.now();
    (company.provider_id, company.corporation_id, company.updated_at) = (to, None, now);
    tx.update_company(&company)?;
    Ok(tx.clear_corporation_admins(id, now)?)
}
