//! `POST /v1/events/{id}/replay` and `POST /v1/events/replay`: send events again.

use guerdon_domain::events::{EventState, ReplayError, Replayed, replay, replay_own};
use guerdon_domain::ports::{Context, Timestamp, Tx};
use serde::Serialize;

use super::feed::{STATES, named};
use crate::operation::Write;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};

/// One event.
pub(crate) struct Replay;

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

impl Write for ReplayMany {
    type Command = Replayed;

    fn command(fields: &mut Fields) -> Option<Replayed> {
        let since = fields.optional("since", Timestamp::parse);
        let state = fields.optional("state", |it| named(it, EventState::from_name, STATES));
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

#[derive(Serialize)]
struct View {
    replayed: usize,
}
