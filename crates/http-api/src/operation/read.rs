//! Operations that change nothing.

use std::sync::Arc;

use guerdon_domain::ports::{Reads, StoreExt};

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::promise::Promise;
use crate::operation::state::State;

/// An operation on one read-only snapshot. It resolves the path's object first, then the query.
pub(crate) trait Read: 'static {
    /// Reads and renders.
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError>;

    /// The memory that the largest answer to such a call takes on its way.
    fn weight(_call: &Call) -> usize {
        0
    }
}

/// Runs a reading operation.
pub(crate) async fn run<R: Read>(state: Arc<State>, call: Call) -> Result<Answer, ApiError> {
    let weight = state.work.take(call.scope, R::weight(&call)).await?;
    let read = move |state: &State, _: &Promise| {
        let answer = state.api.store.snapshot(|reads| R::read(reads, &call))?;
        Ok(answer.holding(weight))
    };
    state.block(read).await
}
