//! Operations that change nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use guerdon_domain::ports::{Reads, StoreExt as _};

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::described::Described;
use crate::operation::error::ApiError;
use crate::operation::promise::Promise;
use crate::operation::state::State;

/// What the questions of an operation ask of the store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// One snapshot for all of them.
    OfOneMoment,
    /// Each may be answered as of its own moment.
    OfAnyMoment,
    /// One object by its key: an embedded database answers that sooner than another thread takes the question over.
    ByKey,
}

/// An operation that reads. It resolves the path's object first, then the query.
pub(crate) trait Read: Described + 'static {
    /// What its questions ask of the store.
    const ASKS: Asks = Asks::OfOneMoment;

    /// Reads and renders.
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError>;

    /// The memory that the largest answer to such a call takes on its way.
    fn weight(_call: &Call) -> usize {
        0
    }
}

/// Runs a reading operation.
pub(crate) async fn run<R: Read>(state: Arc<State>, call: Call) -> Result<Answer, ApiError> {
    if R::ASKS == Asks::ByKey
        && let Some(answer) = at_once::<R>(&state, &call)
    {
        return answer;
    }
    let weight = state.work.take(call.scope, R::weight(&call)).await?;
    let turn = state.reads.turn(call.scope).await?;
    let read = move |state: &State, _: &Promise| {
        let _turn = turn;
        let work = |reads: &mut dyn Reads| R::read(reads, &call);
        let store = &state.api.store;
        let answer = if R::ASKS == Asks::OfOneMoment { store.snapshot(work) } else { store.glancing(work) };
        Ok(answer?.holding(weight))
    };
    state.block(read).await
}

/// Reads on this very thread, where the store can; what goes wrong there is tried again where it holds up nobody.
fn at_once<R: Read>(state: &State, call: &Call) -> Option<Result<Answer, ApiError>> {
    let mut answer = None;
    let mut work = |reads: &mut dyn Reads| answer = Some(R::read(reads, call));
    let done = catch_unwind(AssertUnwindSafe(|| state.api.store.glance_at_once(&mut work)));
    answer.filter(|_| matches!(done, Ok(Some(Ok(())))))
}
