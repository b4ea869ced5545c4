//! `/v1/events` (behaviour 25.5, 25.6).

use guerdon_api_types::views::EventView;
use guerdon_domain::ports::ToldEvent;

use crate::operation::error::ApiError;

mod feed;
mod get;
mod replay;

pub(crate) use feed::List;
pub(crate) use get::Get;
pub(crate) use replay::{Replay, ReplayMany};

/// The view of an event, whose body a damaged database may hold as something else than JSON.
fn view_of(event: &ToldEvent) -> Result<EventView<'_>, ApiError> {
    EventView::of(event).map_err(|cause| {
        ApiError::internal(format!("the body of event {} is no JSON: {cause}", event.event.id))
    })
}
