//! `GET /v1/events/{id}`: one event, with the attempts to deliver it.

use guerdon_domain::ports::Reads;
use schemars::JsonSchema;
use serde::Serialize;

use super::view_of;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};
use crate::operation::{Described, Read};
use guerdon_api_types::views::{AttemptView, EventView};

pub(crate) struct Get;

impl Described for Get {
    const NAME: &'static str = "getEvent";
    const SUMMARY: &'static str = "Fetch an event";
    const TEXT: &'static str = "An event with its delivery attempts.";
    const IS_EXTENSION: bool = true;
    type View = View<'static>;
}

impl Read for Get {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let told = in_path(reads.event(call.scope, call.path_id("event")?)?, "event")?;
        let attempts = reads.attempts(told.event.id)?;
        Answer::ok(&View {
            event: view_of(&told)?,
            attempts_log: attempts.iter().map(AttemptView::of).collect(),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AttemptedEvent")]
pub(crate) struct View<'a> {
    #[serde(flatten)]
    event: EventView<'a>,
    /// The attempts, oldest first.
    attempts_log: Vec<AttemptView<'a>>,
}
