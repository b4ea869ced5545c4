//! `GET /v1/events/{id}`: one event, with the attempts to deliver it.

use guerdon_api_types::views::{AttemptView, EventView};
use guerdon_domain::ports::{ReadTx, SHOWN_ATTEMPTS_MAX};
use schemars::JsonSchema;
use serde::Serialize;

use super::event_view;
use crate::operation::{ApiError, Call, OperationDocs, ReadOperation, RenderedResponse, require_in_path};

pub(crate) struct Get;

impl OperationDocs for Get {
    const NAME: &'static str = "getEvent";
    const SUMMARY: &'static str = "Fetch an event";
    const DESCRIPTION: &'static str = "An event with its delivery attempts.";
    const IS_EXTENSION: bool = true;
    type View = View<'static>;
}

impl ReadOperation for Get {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let event_with_body =
            require_in_path(reads.find_event(call.scope, call.path_id("event")?)?, "event")?;
        let attempts = reads.list_attempts_without_responses(event_with_body.event.id, SHOWN_ATTEMPTS_MAX)?;
        RenderedResponse::ok(&View {
            event: event_view(&event_with_body)?,
            attempts_log: attempts.iter().map(AttemptView::from_attempt).collect(),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AttemptedEvent")]
pub(crate) struct View<'a> {
    #[serde(flatten)]
    event: EventView<'a>,
    /// The newest 100 attempts, oldest first.
    attempts_log: Vec<AttemptView<'a>>,
}
