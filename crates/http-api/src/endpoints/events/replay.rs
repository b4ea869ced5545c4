//! `POST /v1/events/{id}/replay` and `POST /v1/events/replay`: send events again.

use guerdon_domain::events::{ReplayError, Replayed, replay, replay_own};
use guerdon_domain::ports::{Context, Tx};
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::field_docs;

/// One event.
pub(crate) struct Replay;

impl Described for Replay {
    const NAME: &'static str = "replayEvent";
    const SUMMARY: &'static str = "Replay an event";
    const TEXT: &'static str = "Makes an event due now, in whatever state it is. Its id and body do not change. The retry schedule \
         of an event that was delivered or exhausted starts again.";
    const IS_EXTENSION: bool = true;
    type View = View;
}

impl Write for Replay {
    const HAS_BODY: bool = false;
    type Command = ();

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        in_path(tx.event(call.scope, call.path_id("event")?)?, "event").map(drop)
    }

    fn command(_fields: &mut Fields) -> Option<()> {
        Some(())
    }

    fn perform(tx: &mut dyn Tx, call: &Call, (): &(), context: &Context<'_>) -> Result<Answer, ApiError> {
        Answer::ok(&View { replayed: replay(tx, &[call.path_id("event")?], context)? })
    }
}

/// All of some.
pub(crate) struct ReplayMany;

impl Described for ReplayMany {
    const NAME: &'static str = "replayEvents";
    const SUMMARY: &'static str = "Replay events";
    const TEXT: &'static str = "Makes all events due now that were created at `since` or later, are in `state`, or both. \
         At least one is required; `delivered` requires both.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("Event");
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// Only events that were created at this time or later. Example: `"2026-11-20T20:01:02.345Z"`
        since,
    };
    type View = View;
}

impl Write for ReplayMany {
    type Command = Replayed;

    fn command(fields: &mut Fields) -> Option<Replayed> {
        let since = fields.optional("since");
        let state = fields.optional("state");
        Replayed::asked(since, state).map_or_else(|fault| fields.fault(fault), Some)
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        which: &Replayed,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        Answer::ok(&View { replayed: replay_own(tx, call.scope, *which, context)? })
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::NoSuchEvent(_) | ReplayError::NoSuchProvider => Self::not_found("event not found"),
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
