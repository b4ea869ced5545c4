//! Operations that change something: each in one transaction, and retryable under an idempotency key.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use actix_web::web::Payload;
use guerdon_domain::commands::Command;
use guerdon_domain::idempotency::{Begun, Repeatable};
use guerdon_domain::ports::{Context, Deadlines, StoreError, StoreExt, Tx, Verdict};
use tokio::time::{Instant, sleep};

use super::flights::Flight;
use super::idempotency;
use crate::operation::answer::Answer;
use crate::operation::body::{self, Parsed, Read};
use crate::operation::budget::Weight;
use crate::operation::call::Call;
use crate::operation::described::Described;
use crate::operation::error::ApiError;
use crate::operation::promise::Promise;
use crate::operation::state::State;
use crate::operation::submit::{Render, Submitted};
use guerdon_api_types::body::Fields;

/// How often a request tries to get an idempotency key that another process holds.
const KEY_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// An operation in one transaction. `find`, `command` and `perform` are called in this order (behaviour 4.1).
pub(crate) trait Write: Described + 'static {
    /// Whether only a designated provider may call the operation (behaviour 9.3).
    const NEEDS_DESIGNATION: bool = false;
    /// For an operation that moves points: how to make its command, and how to render the result. Then no other part of the
    /// operation runs in a transaction.
    const SUBMITS: Option<(ToCommand<Self::Command>, Render)> = None;
    /// Whether the transaction is rolled back, because the operation only shows what would happen. Such an operation ignores idempotency
    /// keys.
    const IS_DRY_RUN: bool = false;
    /// Whether the operation reads a body.
    const HAS_BODY: bool = true;
    /// The content of the body.
    type Command: Send + Sync + 'static;

    /// Looks up the object in the path, for operations that must refuse it before they check the body.
    fn find(_tx: &mut dyn Tx, _call: &Call) -> Result<(), ApiError> {
        Ok(())
    }

    /// Reads the fields of the body; `None` only after a fault.
    fn command(fields: &mut Fields) -> Option<Self::Command>;

    /// The memory that the operation needs, including its response.
    fn weight(_command: &Self::Command) -> usize {
        0
    }

    /// Calls the use case and renders the response. It may run again after a conflict, so it must have no effect outside `tx`.
    fn perform(
        _tx: &mut dyn Tx,
        _call: &Call,
        _command: &Self::Command,
        _context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        Err(ApiError::internal("the operation submits a command"))
    }
}

/// Makes the command of a request.
pub(crate) type ToCommand<C> = fn(&Call, &C) -> Result<Command, ApiError>;

/// A parsed request. Faults of its body are reported only after the checks that precede them.
struct Work<W: Write> {
    call: Call,
    key: Option<Repeatable>,
    parsed: Result<Parsed<W::Command>, ApiError>,
    /// The memory that is reserved for the body.
    _weight: Option<Weight>,
}

/// Why a transaction was undone.
enum Stop {
    /// Another request with this idempotency key is in progress.
    InFlight,
    Refused(ApiError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<ApiError> for Stop {
    fn from(refusal: ApiError) -> Self {
        Self::Refused(refusal)
    }
}

/// Runs the operation for a request.
pub(crate) async fn run<W: Write>(
    state: Arc<State>,
    call: Call,
    request: HttpRequest,
    payload: Payload,
) -> Result<Answer, ApiError> {
    state.writes.require_room(call.scope)?; // before any work
    let weight = state.bodies.weight(call.scope);
    let read = if W::HAS_BODY { body::read(&request, payload, weight).await } else { Ok(Read::default()) };
    let length = read.as_ref().map_or(0, |body| body.bytes.len());
    let prepared = move |headers: &HeaderMap| prepare::<W>(call, headers, read);
    let work = Arc::new(state.parsing.run(request.headers(), length, prepared).await?);
    let Some(key) = work.key.clone() else {
        return perform_once(&state, &work, None).await.map_err(|stop| match stop {
            Stop::InFlight => busy(),
            Stop::Refused(refusal) => refusal,
        });
    };
    let deadline = Instant::now() + Deadlines::REQUEST.idempotency_key;
    loop {
        let flight = state.flights.enter(&key.key, deadline).await.ok_or_else(busy)?;
        match perform_once(&state, &work, Some(flight)).await {
            Ok(answer) => return Ok(answer),
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::InFlight) if Instant::now() + KEY_RETRY_INTERVAL >= deadline => return Err(busy()),
            Err(Stop::InFlight) => sleep(KEY_RETRY_INTERVAL).await,
        }
    }
}

fn busy() -> ApiError {
    ApiError::unavailable("a request with this Idempotency-Key is still at work", 1)
}

/// The error of a transaction that was not committed because the client has already got a 503. It is not sent.
fn too_late() -> ApiError {
    ApiError::unavailable("the request took too long", 1)
}

fn prepare<W: Write>(call: Call, headers: &HeaderMap, read: Result<Read, ApiError>) -> Work<W> {
    let key = match &read {
        Ok(read) if call.method == "POST" && !W::IS_DRY_RUN => {
            idempotency::key_of(&call, headers, &read.bytes)
        }
        // Without the whole body, a retry cannot be distinguished from another request with the same key.
        _ => Ok(None),
    };
    let (key, read) = match key {
        Ok(key) => (key, read),
        Err(refusal) => (None, Err(refusal)),
    };
    match read {
        Ok(Read { bytes, weight }) => {
            Work { parsed: parse::<W>(headers, &bytes), key, call, _weight: weight }
        }
        Err(refusal) => Work { parsed: Err(refusal), key, call, _weight: None },
    }
}

fn parse<W: Write>(headers: &HeaderMap, body: &[u8]) -> Result<Parsed<W::Command>, ApiError> {
    if W::HAS_BODY { body::parse(headers, body, W::command) } else { Parsed::without_body(W::command) }
}

/// Tries once, in the store's queue or on the blocking pool. The idempotency key, the memory and the place are held until the
/// transaction ends, even if the client disconnects.
async fn perform_once<W: Write>(
    state: &Arc<State>,
    work: &Arc<Work<W>>,
    flight: Option<Flight>,
) -> Result<Answer, Stop> {
    if let Err(refusal) = &work.parsed
        && refuses_without_looking(work)
    {
        return Err(Stop::Refused(refusal.clone()));
    }
    let weight = work.parsed.as_ref().map_or(0, |parsed| W::weight(&parsed.command));
    let weight = state.work.take(work.call.scope, weight).await?;
    if let (Some((to_command, render)), Ok(parsed)) = (W::SUBMITS, &work.parsed) {
        let command = to_command(&work.call, &parsed.command)?;
        let held = (flight, weight);
        return match state.submit(&work.call, command, work.key.clone(), render, held).await? {
            (Submitted::Answered(answer), (_flight, weight)) => Ok(work.complete(answer).holding(weight)),
            (Submitted::KeyInUse, _) => Err(Stop::InFlight),
        };
    }
    let turn = state.writes.turn(work.call.scope).await?;
    let work = Arc::clone(work);
    let ended = state.block(move |state, promise| {
        let ended = transact(state, &work, promise);
        drop((flight, turn));
        match ended {
            Ok(answer) => Ok(Some(work.complete(answer).holding(weight))),
            Err(Stop::InFlight) => Ok(None),
            Err(Stop::Refused(refusal)) => Err(refusal),
        }
    });
    ended.await?.ok_or(Stop::InFlight)
}

/// Whether a fault of the body is reported before any check that needs the database.
fn refuses_without_looking<W: Write>(work: &Work<W>) -> bool {
    let may = !W::NEEDS_DESIGNATION || work.call.is_designated();
    may && work.key.is_none() && work.call.id().is_none()
}

fn transact<W: Write>(state: &State, work: &Work<W>, promise: &Promise) -> Result<Answer, Stop> {
    if !W::IS_DRY_RUN {
        return state.api.store.transaction(|tx| attempt(state, work, promise, tx));
    }
    let mut ended = Err(Stop::Refused(ApiError::internal("a unit of work did not run")));
    state.api.store.run(&mut |tx| {
        ended = attempt(state, work, promise, tx);
        Verdict::Rollback
    })?;
    ended
}

/// Runs the transaction of a request.
fn attempt<W: Write>(
    state: &State,
    work: &Work<W>,
    promise: &Promise,
    tx: &mut dyn Tx,
) -> Result<Answer, Stop> {
    let Work { call, key, parsed, .. } = work;
    let context = state.context(call, key.as_ref());
    W::find(tx, call)?;
    if W::NEEDS_DESIGNATION {
        call.require_designation(tx)?;
    }
    if let Some(key) = key {
        match key.begin(tx, context.clock.now())? {
            Begun::First => {}
            Begun::Repeat(record) => return Ok(idempotency::replayed(record)?),
            Begun::InFlight => return Err(Stop::InFlight),
            Begun::Misused => return Err(idempotency::misused().into()),
        }
    }
    let command = parsed.as_ref().map(|parsed| &parsed.command).map_err(ApiError::clone)?;
    let answer = W::perform(tx, call, command, &context)?;
    if let Some(key) = key {
        let body = idempotency::kept(&answer)?;
        key.keep(tx, answer.status.as_u16(), body, context.clock.now())?;
    }
    if promise.keep() { Ok(answer) } else { Err(Stop::Refused(too_late())) }
}

impl<W: Write> Work<W> {
    /// Adds the headers about the request itself to its response.
    fn complete(&self, answer: Answer) -> Answer {
        match &self.parsed {
            Ok(parsed) => parsed.tell(answer),
            Err(_) => answer,
        }
    }
}
