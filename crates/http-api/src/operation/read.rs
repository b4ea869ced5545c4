//! Operations that change nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use guerdon_domain::ports::{Consistency, Reads, StoreExt as _};

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::described::Described;
use crate::operation::error::ApiError;
use crate::operation::promise::Promise;
use crate::operation::state::State;

/// An operation without a body that changes nothing. It looks up the object in the path first, and then reads the query.
pub(crate) trait Read: Described + 'static {
    /// `PerStatementNoWait` for the read of one object by its key: an embedded database answers that in less time than handing
    /// it to another thread takes. If the store would have to wait, the operation reads per statement on the blocking pool.
    const CONSISTENCY: Consistency = Consistency::Snapshot;

    /// Reads the data and renders the response.
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError>;

    /// The memory that the largest response to such a call needs.
    fn weight(_call: &Call) -> usize {
        0
    }
}

/// Runs the operation for a request.
pub(crate) async fn run<R: Read>(state: Arc<State>, call: Call) -> Result<Answer, ApiError> {
    let consistency = match R::CONSISTENCY {
        Consistency::PerStatementNoWait => match read_in_place::<R>(&state, &call) {
            Some(answer) => return answer,
            None => Consistency::PerStatement,
        },
        consistency => consistency,
    };
    let weight = state.work.take(call.scope, R::weight(&call)).await?;
    let turn = state.reads.turn(call.scope).await?;
    let read = move |state: &State, _: &Promise| {
        let _turn = turn;
        let answer = state.api.store.read_with(consistency, |reads| R::read(reads, &call))?;
        Ok(answer.holding(weight))
    };
    state.block(read).await
}

/// Reads on the calling thread. Returns `None` if the store would have to wait, fails or panics; the caller then uses the blocking
/// pool.
fn read_in_place<R: Read>(state: &State, call: &Call) -> Option<Result<Answer, ApiError>> {
    let mut answer = None;
    let mut work = |reads: &mut dyn Reads| answer = Some(R::read(reads, call));
    let store = &state.api.store;
    let done = catch_unwind(AssertUnwindSafe(|| store.read(Consistency::PerStatementNoWait, &mut work)));
    answer.filter(|_| matches!(done, Ok(Ok(()))))
}
