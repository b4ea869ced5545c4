//! Failpoints: places at which tests inject an error, a panic or the end of the process, and mutants: deliberate
//! defects that tests switch on to prove that the checks detect them.
//!
//! Without the feature `failpoints`, which releases never have, nothing is injected: `failpoint` and `pass_failpoint`
//! do nothing, `alter_changes` returns the changes unaltered, and `is_mutant` returns false.

#[cfg(feature = "failpoints")]
mod enabled;
#[cfg(feature = "failpoints")]
mod names;

#[cfg(not(feature = "failpoints"))]
pub(crate) use disabled::{alter_changes, failpoint, is_mutant, pass_failpoint};
#[cfg(feature = "failpoints")]
pub use enabled::{Fault, InjectedError, clear_all, hit_counts, inject, start_mutant};
#[cfg(feature = "failpoints")]
pub(crate) use enabled::{alter_changes, failpoint, is_mutant, pass_failpoint};
#[cfg(feature = "failpoints")]
pub use names::{Database, FAILPOINTS, Failpoint, MUTANTS, Mutant, Place};

#[cfg(not(feature = "failpoints"))]
mod disabled {
    use std::borrow::Cow;

    use guerdon_domain::ledger::Changes;
    use guerdon_domain::ports::StoreError;

    /// No error is ever injected.
    pub(crate) enum InjectedError {}

    impl From<InjectedError> for diesel::result::Error {
        fn from(error: InjectedError) -> Self {
            match error {}
        }
    }

    impl From<InjectedError> for StoreError {
        fn from(error: InjectedError) -> Self {
            match error {}
        }
    }

    #[inline(always)]
    pub(crate) const fn failpoint(_name: &'static str) -> Result<(), InjectedError> {
        Ok(())
    }

    #[inline(always)]
    pub(crate) const fn pass_failpoint(_name: &'static str) {}

    #[inline(always)]
    pub(crate) const fn alter_changes(changes: &Changes) -> Cow<'_, Changes> {
        Cow::Borrowed(changes)
    }

    #[inline(always)]
    pub(crate) const fn is_mutant(_name: &'static str) -> bool {
        false
    }
}
