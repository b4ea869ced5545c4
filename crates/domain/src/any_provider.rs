//! Lookups for the operator, who acts for every provider.

use crate::model::{Company, User};
use crate::ports::{Locks, ReadCompanies, ReadUsers, StoreError};
use crate::values::{CompanyId, UserId};

/// Finds a company of any provider.
pub fn find_company<R: ReadCompanies + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Option<Company>, StoreError> {
    let Some(scope) = reads.provider_of_company(id)? else { return Ok(None) };
    Ok(reads.find_company(scope, id)?.own().map(|found| found.company))
}

/// Takes the shared lock on a company's provider, and finds the company. Its provider cannot change until the
/// transaction ends; its row is not locked.
pub(crate) fn lock_provider_and_find_company<T: Locks + ReadCompanies + ?Sized>(
    tx: &mut T,
    id: CompanyId,
) -> Result<Option<Company>, StoreError> {
    tx.lock_provider_shared(id)?;
    find_company(tx, id)
}

/// Finds a user of any provider, including deleted users.
pub fn find_user<R: ReadUsers + ?Sized>(reads: &mut R, id: UserId) -> Result<Option<User>, StoreError> {
    let Some(scope) = reads.provider_of_user(id)? else { return Ok(None) };
    Ok(reads.find_user(scope, id)?.own())
}
