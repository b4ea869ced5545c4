//! Finding a company for the operator, who acts for every provider.

use super::Company;
use crate::ports::{Locks, Lookup, ReadCompanies, StoreError};
use crate::values::CompanyId;

/// The company of an id, whoever's it is.
pub fn for_operator<R: ReadCompanies + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Option<Company>, StoreError> {
    let Some(scope) = reads.provider_of_company(id)? else { return Ok(None) };
    match reads.company(scope, id)? {
        Lookup::Own(found) => Ok(Some(found.company)),
        Lookup::Absent | Lookup::Foreign => Ok(None),
    }
}

/// The same, and it stays with its provider until the transaction ends.
pub fn kept<T: Locks + ReadCompanies + ?Sized>(
    tx: &mut T,
    id: CompanyId,
) -> Result<Option<Company>, StoreError> {
    tx.keep_provider(id)?;
    for_operator(tx, id)
}
