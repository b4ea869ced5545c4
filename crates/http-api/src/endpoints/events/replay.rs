//! `POST /v1/events/{id}/replay` and `POST /v1/events/replay`: send events again.

use guerdon_api_types::{FieldDocs, Fields, field_docs};
use guerdon_domain::events::{BulkReplay, ReplayError, ReplayStep, replay_by_ids};
use guerdon_domain::ports::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{
    ApiError, Call, OperationDocs, RenderedResponse, StepResult, Work, WriteOperation, require_in_path,
};

/// The fields that select events together.
const REPLAY_FILTERS: &[&str] = &["since", "state"];

/// Replays one event.
pub(crate) struct Replay;

impl OperationDocs for Replay {
    const NAME: &'static str = "replayEvent";
    const SUMMARY: &'static str = "Replay an event";
    const DESCRIPTION: &'static str = "Makes an event due now, whatever its state. Its id and body do not change. If the event was \
         delivered, exhausted or unaddressed, its retry schedule starts again.";
    const IS_EXTENSION: bool = true;
    type View = View;
}

impl WriteOperation for Replay {
    const HAS_BODY: bool = false;
    type Input = ();

    fn require_object(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        require_in_path(tx.find_event(call.scope, call.path_id("event")?)?, "event").map(drop)
    }

    fn parse_input(_fields: &mut Fields) -> Option<()> {
        Some(())
    }

    fn execute_write(Work { tx, call, context }: Work<'_>, (): &()) -> Result<RenderedResponse, ApiError> {
        RenderedResponse::ok(&View { replayed: replay_by_ids(tx, &[call.path_id("event")?], context)? })
    }
}

/// Replays all events that match a filter, in several transactions if there are many. The response is stored under the
/// idempotency key with the last of them. If the process or the request ends earlier, a retry may replay some events of
/// the committed transactions again.
pub(crate) struct ReplayMany;

impl OperationDocs for ReplayMany {
    const NAME: &'static str = "replayEvents";
    const SUMMARY: &'static str = "Replay events";
    const DESCRIPTION: &'static str = "Makes all events due now that match the filters: created at `since` or later, in state `state`. \
         At least one filter is required; `delivered` requires both. With `pending`, events that wait for their next \
         attempt are sent now and keep their schedule.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("Event");
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// Only events that were created at this time or later. Example: `"2026-11-20T20:01:02.345Z"`
        since,
        /// Only events in this state. `pending`: waits for its next attempt; `exhausted`: all attempts failed;
        /// `unaddressed`: the provider had no callback URL; `delivered`: confirmed, only together with `since`.
        /// Example: `"exhausted"`
        state,
    };
    type View = View;
}

impl WriteOperation for ReplayMany {
    const IS_LONG: bool = true;
    type Input = BulkReplay;

    fn parse_input(fields: &mut Fields) -> Option<BulkReplay> {
        let since = fields.read_optional("since");
        let state = fields.read_optional("state");
        BulkReplay::from_filters(since, state)
            .map_or_else(|fault| fields.report_fault(REPLAY_FILTERS, fault), Some)
    }

    fn execute_step(work: Work<'_>, replay: &BulkReplay) -> Result<StepResult<BulkReplay>, ApiError> {
        Ok(match replay.run_step(work.tx, work.call.scope, work.context)? {
            ReplayStep::Continue(rest) => StepResult::Continue(rest),
            ReplayStep::Done(replayed) => StepResult::Response(RenderedResponse::ok(&View { replayed })?),
        })
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::NoSuchEvent(_) | ReplayError::NoSuchProvider => Self::not_found_in_path("event"),
            ReplayError::Store(error) => error.into(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Replayed")]
pub(crate) struct View {
    /// The number of replayed events; events whose delivery is in progress do not count. Example: `1`
    replayed: usize,
}
