//! Failpoints: places at which tests inject an error, a panic or the end of the process, and mutants: deliberate
//! defects that tests switch on to prove that the checks detect them.
//!
//! Without the feature `failpoints`, which releases never have, the functions of this module are empty.

#[cfg(not(feature = "failpoints"))]
use std::borrow::Cow;

#[cfg(not(feature = "failpoints"))]
use guerdon_domain::ledger::Changes;

#[cfg(feature = "failpoints")]
mod enabled;
#[cfg(feature = "failpoints")]
mod names;

#[cfg(feature = "failpoints")]
pub use enabled::{Fault, InjectedError, clear_all, hit_counts, inject, start_mutant};
#[cfg(feature = "failpoints")]
pub(crate) use enabled::{alter_changes, failpoint, is_mutant, pass_failpoint};
#[cfg(feature = "failpoints")]
pub use names::{Database, FAILPOINTS, Failpoint, MUTANTS, Mutant, Place};

/// No error is ever injected.
#[cfg(not(feature = "failpoints"))]
pub(crate) enum InjectedError {}

/// Does nothing.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) const fn failpoint(_name: &'static str) -> Result<(), InjectedError> {
    Ok(())
}

/// Does nothing.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) const fn pass_failpoint(_name: &'static str) {}

/// Returns the unaltered changes.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) const fn alter_changes(changes: &Changes) -> Cow<'_, Changes> {
    Cow::Borrowed(changes)
}

/// Returns `false`.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) const fn is_mutant(_name: &'static str) -> bool {
    false
}

#[cfg(not(feature = "failpoints"))]
impl From<InjectedError> for diesel::result::Error {
    fn from(error: InjectedError) -> Self {
        match error {}
    }
}

#[cfg(not(feature = "failpoints"))]
impl From<InjectedError> for guerdon_domain::ports::StoreError {
    fn from(error: InjectedError) -> Self {
        match error {}
    }
}
