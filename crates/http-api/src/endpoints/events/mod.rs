//! `/v1/events` (behaviour 25.5, 25.6).

use guerdon_api_types::views::EventView;
use guerdon_domain::ports::EventWithBody;

use crate::operation::ApiError;

mod feed;
mod get;
mod long_poll;
mod replay;

pub(crate) use feed::List;
#[cfg(feature = "testing")]
pub(crate) use feed::read_cursor;
pub(crate) use get::Get;
pub(crate) use long_poll::run_long_poll;
pub(crate) use replay::{Replay, ReplayMany};

/// The view of an event. Fails if its body is not JSON, which means that the database is damaged.
fn event_view(event: &EventWithBody) -> Result<EventView<'_>, ApiError> {
    EventView::from_event(event).map_err(|cause| {
        ApiError::internal(format!("the body of event {} is not JSON: {cause}", event.event.id))
    })
}
