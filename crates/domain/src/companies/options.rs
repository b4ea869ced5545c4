//! The options an operator turns on for a company (contract §5.6).

use crate::ports::{Context, StoreError, Tx};
use crate::values::CompanyId;

/// Why an option was not set.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// There is no such company.
    #[error("no company has this id")]
    NoSuchCompany,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Allows or forbids recognitions of zero points.
pub fn set_allow_zero_points(
    tx: &mut dyn Tx,
    id: CompanyId,
    allow: bool,
    context: &Context<'_>,
) -> Result<(), OptionsError> {
    if tx.provider_of_company(id)?.is_none() {
        return Err(OptionsError::NoSuchCompany);
    }
    Ok(tx.set_allow_zero_points(id, allow, context.clock.now())?)
}
