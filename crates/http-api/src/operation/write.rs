//! Operations that change something. Each runs in one transaction and can be retried with an idempotency key.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use actix_web::web::Payload;
use guerdon_api_types::Fields;
use guerdon_domain::commands::Command;
use guerdon_domain::idempotency::{IdempotencyKey, IdempotentRequest, KeyState};
use guerdon_domain::ports::{Context, Deadlines, Tx, Verdict};
use tokio::time::{Instant, sleep};

use super::idempotency;
use super::key_locks::KeyLock;
use crate::health::RequestKind;
use crate::operation::body::{self, ParsedInput, ReceivedBody};
use crate::operation::memory_budget::MemoryPermit;
use crate::operation::submit::RenderResponse;
use crate::operation::{
    ApiError, ApiState, Call, CommitDecision, OperationDocs, RenderedResponse, confirm_caller,
};

/// The interval at which a request tries to get an idempotency key that another process holds.
const KEY_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// What an operation works with: its transaction, its call, and the context of its use case.
pub(crate) struct Work<'a> {
    pub(crate) tx: &'a mut dyn Tx,
    pub(crate) call: &'a Call,
    pub(crate) context: &'a Context<'a>,
}

/// The result of one transaction of an operation.
pub(crate) enum StepResult<I> {
    /// The operation is complete.
    Response(RenderedResponse),
    /// The operation continues in another transaction, with this input.
    Continue(I),
}

/// An operation that changes something. Faults of the body are reported only after the checks of the object in the
/// path, the designation and the idempotency key (behaviour 4.1).
pub(crate) trait WriteOperation: OperationDocs + 'static {
    /// Whether only a designated provider may call the operation (behaviour 9.3).
    const NEEDS_DESIGNATION: bool = false;
    /// For an operation that moves points: the functions that create its command and render the result. The methods of
    /// such an operation do not run in a transaction.
    const SUBMISSION: Option<(ToCommand<Self::Input>, RenderResponse)> = None;
    /// Whether the transaction is always rolled back, because the operation only shows what would happen. Such an
    /// operation ignores idempotency keys.
    const IS_DRY_RUN: bool = false;
    /// Whether a transaction of the operation takes many milliseconds. On an embedded database such transactions take
    /// turns, and others wait for at most one of them.
    const IS_LONG: bool = false;
    /// Whether the operation has input. Without input, the body of a POST may be empty; otherwise it is checked like
    /// any other body, and its fields count as unknown. The body of a DELETE is not read.
    const HAS_BODY: bool = true;
    /// The content of the body.
    type Input: Send + Sync + 'static;

    /// Checks the object in the path before the body is checked.
    fn require_object(_tx: &mut dyn Tx, _call: &Call) -> Result<(), ApiError> {
        Ok(())
    }

    /// Reads the fields of the body; `None` only after a fault.
    fn parse_input(fields: &mut Fields) -> Option<Self::Input>;

    /// The memory that the operation needs, including its response, in bytes.
    fn estimate_memory(_input: &Self::Input) -> usize {
        0
    }

    /// Calls the use case and renders the response. It may run again after a conflict, so it must have no effect
    /// outside the transaction.
    fn execute_write(_work: Work<'_>, _input: &Self::Input) -> Result<RenderedResponse, ApiError> {
        Err(ApiError::internal("the operation submits a command"))
    }

    /// Executes one transaction of the operation. An operation that may change many rows uses several transactions.
    /// Each but the last is committed without a response, and the next one continues with the input that it returned.
    /// If the request fails or its time limit is reached, the changes of the committed transactions remain.
    fn execute_step(work: Work<'_>, input: &Self::Input) -> Result<StepResult<Self::Input>, ApiError> {
        Self::execute_write(work, input).map(StepResult::Response)
    }
}

/// Creates the command of a request.
pub(crate) type ToCommand<I> = fn(&Call, &I) -> Result<Command, ApiError>;

/// A parsed request. Faults of its body are reported only after the checks that take precedence.
struct PreparedRequest<W: WriteOperation> {
    call: Call,
    key: Option<IdempotentRequest>,
    parsed: Result<ParsedInput<W::Input>, ApiError>,
    /// The memory that is reserved for the body.
    _body_memory: Option<MemoryPermit>,
}

/// Runs the operation for a request.
pub(crate) async fn run_write<W: WriteOperation>(
    state: Arc<ApiState>,
    call: Call,
    request: HttpRequest,
    payload: Payload,
) -> Result<RenderedResponse, ApiError> {
    if W::SUBMISSION.is_none() {
        state.write_queue.require_room(call.scope)?; // before the body is read
    }
    let memory = state.body_memory.empty_permit(call.scope);
    let received = if W::HAS_BODY || call.method == "POST" {
        body::read_body(&request, payload, memory).await
    } else {
        Ok(ReceivedBody::default())
    };
    let length = received.as_ref().map_or(0, |body| body.bytes.len());
    let scope = call.scope;
    let prepare = move |headers: &HeaderMap| prepare_request::<W>(call, headers, received);
    let prepared = Arc::new(state.body_parser.run_parser(scope, request.headers(), length, prepare).await?);
    let Some(key) = prepared.key.clone() else {
        return execute_once(&state, &prepared, None).await?.ok_or_else(key_in_use_error);
    };
    state.require_database(RequestKind::Write)?; // otherwise a retry would wait for a request that cannot commit
    let deadline = Instant::now() + Deadlines::IDEMPOTENCY_KEY;
    loop {
        let key_lock = state.key_locks.acquire_lock(&key.key, deadline).await.ok_or_else(key_in_use_error)?;
        if let Some(response) = execute_once(&state, &prepared, Some(key_lock)).await? {
            return Ok(response);
        }
        if Instant::now() + KEY_RETRY_INTERVAL >= deadline {
            return Err(key_in_use_error());
        }
        sleep(KEY_RETRY_INTERVAL).await;
    }
}

fn key_in_use_error() -> ApiError {
    ApiError::unavailable("a request with this Idempotency-Key is still in progress", 1)
}

/// The error of a transaction that was not committed because the client has already received a 503. This error is not
/// sent.
fn too_late_error() -> ApiError {
    ApiError::unavailable("the request took too long", 1)
}

fn prepare_request<W: WriteOperation>(
    call: Call,
    headers: &HeaderMap,
    received: Result<ReceivedBody, ApiError>,
) -> PreparedRequest<W> {
    // If the body is incomplete, a retry cannot be distinguished from another request with the same key.
    let received = received.and_then(|body| {
        let accepts_key = call.method == "POST" && !W::IS_DRY_RUN;
        let key = if accepts_key { idempotency::read_key(&call, headers, &body.bytes)? } else { None };
        Ok((body, key))
    });
    match received {
        Ok((ReceivedBody { bytes, memory }, key)) => {
            let body = (W::HAS_BODY || !bytes.is_empty()).then_some(bytes.as_slice());
            let parsed = body::parse_input(headers, body, W::parse_input);
            PreparedRequest { call, key, parsed, _body_memory: memory }
        }
        Err(error) => PreparedRequest { call, key: None, parsed: Err(error), _body_memory: None },
    }
}

/// Executes the operation once, in the store's queue or on the blocking pool. The idempotency key, the memory and the
/// permit are held until the transaction ends, even if the client disconnects. Returns `None` if another request with
/// this idempotency key is in progress.
async fn execute_once<W: WriteOperation>(
    state: &Arc<ApiState>,
    prepared: &Arc<PreparedRequest<W>>,
    key_lock: Option<KeyLock<IdempotencyKey>>,
) -> Result<Option<RenderedResponse>, ApiError> {
    if let Err(error) = &prepared.parsed
        && rejects_before_lookup(prepared)
    {
        return Err(error.clone());
    }
    let memory = prepared.parsed.as_ref().map_or(0, |parsed| W::estimate_memory(&parsed.input));
    let memory = state.work_memory.acquire_bytes(prepared.call.scope, memory).await?;
    if let (Some((to_command, render)), Ok(parsed)) = (W::SUBMISSION, &prepared.parsed) {
        let command = to_command(&prepared.call, &parsed.input)?;
        let resources = (key_lock, memory);
        let submitted =
            state.submit_command(&prepared.call, command, prepared.key.clone(), render, resources).await?;
        return Ok(submitted.map(|(response, (_key_lock, memory))| {
            prepared.add_request_headers(response).with_memory(memory)
        }));
    }
    state.require_database(RequestKind::Write)?;
    let permit = state.write_queue.acquire_permit(prepared.call.scope).await?;
    let prepared = Arc::clone(prepared);
    state
        .run_blocking(RequestKind::Write, move |state, decision| {
            let outcome = run_transaction(state, &prepared, decision);
            drop((key_lock, permit));
            Ok(outcome?.map(|response| prepared.add_request_headers(response).with_memory(memory)))
        })
        .await
}

/// Whether a fault of the body is reported before any check that needs the database. If the request waited long, its
/// credentials are checked again first.
fn rejects_before_lookup<W: WriteOperation>(prepared: &PreparedRequest<W>) -> bool {
    let passes_designation = !W::NEEDS_DESIGNATION || prepared.call.caller.is_designated;
    let is_admitted = passes_designation && prepared.call.caller.is_current();
    is_admitted && prepared.key.is_none() && prepared.call.id().is_none()
}

/// Runs the transactions of a request, usually one. Commits a transaction only if it has a result and is not a dry run.
fn run_transaction<W: WriteOperation>(
    state: &ApiState,
    prepared: &PreparedRequest<W>,
    decision: &CommitDecision,
) -> Result<Option<RenderedResponse>, ApiError> {
    let deadline = Instant::now() + Deadlines::COMMIT;
    let mut next_input = None;
    loop {
        let mut outcome = Err(ApiError::internal("a unit of work was not executed"));
        let mut work = |tx: &mut dyn Tx| {
            outcome = run_in_transaction(state, prepared, next_input.as_ref(), decision, tx);
            let commits = !W::IS_DRY_RUN && matches!(outcome, Ok(Some(_)));
            if commits { Verdict::Commit } else { Verdict::Rollback }
        };
        let store = &state.api.store;
        if W::IS_LONG { store.run_long_transaction(&mut work) } else { store.run_transaction(&mut work) }?;
        match outcome? {
            // Another process claimed the key between two steps, and will store the response.
            None if next_input.is_some() => return Err(ApiError::busy()),
            None => return Ok(None),
            Some(StepResult::Response(response)) => return Ok(Some(response)),
            Some(StepResult::Continue(input)) => next_input = Some(input),
        }
        if decision.is_timeout() || Instant::now() > deadline {
            return Err(ApiError::busy());
        }
    }
}

/// Runs one transaction of a request; `next_input` is the result of the previous one. Returns `None` if another request
/// with this idempotency key is in progress.
fn run_in_transaction<W: WriteOperation>(
    state: &ApiState,
    prepared: &PreparedRequest<W>,
    next_input: Option<&W::Input>,
    decision: &CommitDecision,
    tx: &mut dyn Tx,
) -> Result<Option<StepResult<W::Input>>, ApiError> {
    let PreparedRequest { call, key, parsed, .. } = prepared;
    let requester = call.requester(key.as_ref());
    let context = state.api.context_sources.context_for(&requester);
    confirm_caller(&call.caller, tx, context.clock.now())?;
    W::require_object(tx, call)?;
    if W::NEEDS_DESIGNATION {
        call.require_designation(tx)?;
    }
    if let Some(key) = key {
        match key.claim_key(tx, context.clock.now())? {
            KeyState::Unused => {}
            KeyState::Completed(record) => {
                return Ok(Some(StepResult::Response(idempotency::replay_response(record)?)));
            }
            KeyState::InFlight => return Ok(None),
            KeyState::Misused => return Err(ApiError::key_reused()),
        }
    }
    let input = match next_input {
        Some(input) => input,
        None => parsed.as_ref().map(|parsed| &parsed.input).map_err(ApiError::clone)?,
    };
    let work = Work { tx: &mut *tx, call, context: &context };
    let response = match W::execute_step(work, input)? {
        StepResult::Response(response) => response,
        StepResult::Continue(input) => return Ok(Some(StepResult::Continue(input))),
    };
    if let Some(key) = key {
        let body = idempotency::pack_body(&response)?;
        let stored = (response.status.as_u16(), body);
        key.store_response(tx, response.company_id, stored, context.clock.now())?;
    }
    if decision.decide_commit() { Ok(Some(StepResult::Response(response))) } else { Err(too_late_error()) }
}

impl<W: WriteOperation> PreparedRequest<W> {
    /// Adds the header that lists ignored fields to the response.
    fn add_request_headers(&self, response: RenderedResponse) -> RenderedResponse {
        match &self.parsed {
            Ok(parsed) => parsed.add_ignored_fields(response),
            Err(_) => response,
        }
    }
}
