//! Operations that change nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use guerdon_domain::ports::{Consistency, ReadTx, StoreExt as _};
use guerdon_domain::values::{Page, ProviderId};

use crate::health::RequestKind;
use crate::operation::{
    ApiError, ApiState, Call, CommitDecision, OperationDocs, Query, RenderedResponse, confirm_caller, list,
};
use crate::request_info::Caller;

/// An operation without a body that changes nothing. It looks up the object in the path before it reads the query.
pub(crate) trait ReadOperation: OperationDocs + 'static {
    /// Use `PerStatementNoWait` to read one object by its key: an embedded database does that faster than the request
    /// could be passed to another thread. If the store would have to wait, the operation reads per statement on the
    /// blocking pool.
    const CONSISTENCY: Consistency = Consistency::Snapshot;
    /// The memory that one item of a list needs; 0 if the response is so small that it needs no reservation.
    const ITEM_BYTES_MAX: usize = 0;
    /// Reads the page of a list.
    const READ_PAGE: fn(&mut Query) -> Option<Page> = list::read_page;

    /// Reads the data and renders the response.
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError>;

    /// The memory in bytes that the largest response to such a call needs.
    fn estimate_memory(call: &Call) -> usize {
        if Self::ITEM_BYTES_MAX == 0 {
            return 0;
        }
        list::estimate_page_memory(call.parse_query(Self::READ_PAGE), Self::ITEM_BYTES_MAX)
    }
}

/// Runs the operation for a request.
pub(crate) async fn run_read<R: ReadOperation>(
    state: Arc<ApiState>,
    call: Call,
) -> Result<RenderedResponse, ApiError> {
    let consistency = match R::CONSISTENCY {
        Consistency::PerStatementNoWait => match read_in_place::<R>(&state, &call) {
            Some(response) => return response,
            None => Consistency::PerStatement,
        },
        consistency => consistency,
    };
    let memory = state.work_memory.acquire_bytes(call.scope, R::estimate_memory(&call)).await?;
    let caller = call.caller.clone();
    let read = move |reads: &mut dyn ReadTx| R::execute_read(reads, &call);
    let response = read_blocking(&state, caller, consistency, read).await?;
    Ok(response.with_memory(memory))
}

/// Reads on the blocking pool, after the fair queue has granted a permit. Fails with 401 if the caller lost access
/// while the request waited.
pub(crate) async fn read_blocking<T: Send + 'static>(
    state: &Arc<ApiState>,
    caller: Caller,
    consistency: Consistency,
    mut read: impl FnMut(&mut dyn ReadTx) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let scope = caller.id;
    read_unconfirmed(state, scope, consistency, move |state, reads| {
        confirm_caller(&caller, reads, state.api.context_sources.clock.now())?;
        read(reads)
    })
    .await
}

/// Like [`read_blocking`], for a read that calls [`confirm_caller`] itself before it returns data of the provider.
pub(crate) async fn read_unconfirmed<T: Send + 'static>(
    state: &Arc<ApiState>,
    scope: ProviderId,
    consistency: Consistency,
    mut read: impl FnMut(&ApiState, &mut dyn ReadTx) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let permit = state.read_queue.acquire_permit(scope).await?;
    let work = move |state: &ApiState, _: &CommitDecision| {
        let _permit = permit;
        state.api.store.read_with(consistency, |reads| read(state, reads))
    };
    state.run_blocking(RequestKind::Read, work).await
}

/// Reads on the calling thread. Returns `None` if the store would have to wait, fails or panics; the caller then uses
/// the blocking pool.
fn read_in_place<R: ReadOperation>(
    state: &ApiState,
    call: &Call,
) -> Option<Result<RenderedResponse, ApiError>> {
    let mut response = None;
    let now = state.api.context_sources.clock.now();
    let mut work = |reads: &mut dyn ReadTx| {
        let confirmed = confirm_caller(&call.caller, reads, now);
        response = Some(confirmed.and_then(|()| R::execute_read(reads, call)));
    };
    let store = &state.api.store;
    let done = catch_unwind(AssertUnwindSafe(|| store.run_read(Consistency::PerStatementNoWait, &mut work)));
    response.filter(|_| matches!(done, Ok(Ok(()))))
}
