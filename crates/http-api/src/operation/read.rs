//! Operations that change nothing.

use std::sync::Arc;

use guerdon_domain::ports::{Reads, StoreExt};

use crate::answer::Answer;
use crate::call::Call;
use crate::error::ApiError;
use crate::state::State;

/// An operation on one read-only snapshot. It resolves the path's object first, then the query.
pub(crate) trait Read: 'static {
    /// Reads and renders.
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError>;
}

/// Runs a reading operation.
pub(crate) async fn run<R: Read>(state: Arc<State>, call: Call) -> Result<Answer, ApiError> {
    state.block(move |state| state.api.store.snapshot(|reads| R::read(reads, &call))).await
}
