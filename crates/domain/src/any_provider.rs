//! Lookups for the operator, who acts for every provider.

use crate::model::{Company, User};
use crate::ports::{Locks, Lookup, ReadCompanies, ReadUsers, StoreError};
use crate::values::{CompanyId, UserId};

/// Finds a company of any provider.
pub fn find_company<R: ReadCompanies + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Option<Company>, StoreError> {
    let Some(scope) = reads.provider_of_company(id)? else { return Ok(None) };
    match reads.find_company(scope, id)? {
        Lookup::Own(found) => Ok(Some(found.company)),
        Lookup::Absent | Lookup::Foreign => Ok(None),
    }
}

/// Locks and finds a company of any provider. Its provider cannot change until the transaction ends.
pub fn lock_and_find_company<T: Locks + ReadCompanies + ?Sized>(
    tx: &mut T,
    id: CompanyId,
) -> Result<Option<Company>, StoreError> {
    tx.lock_provider_shared(id)?;
    find_company(tx, id)
}

/// Finds a user of any provider, including deleted users.
pub fn find_user<R: ReadUsers + ?Sized>(reads: &mut R, id: UserId) -> Result<Option<User>, StoreError> {
    let Some(scope) = reads.provider_of_user(id)? else { return Ok(None) };
    Ok(match reads.find_user(scope, id)? {
        Lookup::Own(user) => Some(user),
        Lookup::Absent | Lookup::Foreign => None,
    })
}
