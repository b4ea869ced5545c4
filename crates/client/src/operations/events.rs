use serde_json::json;
use uuid::Uuid;

use crate::api::Api;
use crate::call::Call;
use crate::items::EventFeed;
use crate::objects::{Event, EventPage, EventQuery, ReplayFilter, Replayed};

/// Events (behaviour 25.5, 25.6).
impl<C> Api<C> {
    /// Reads the events up to the present, oldest first. To read on later, start another feed at this one's cursor.
    pub fn events(&self, query: &EventQuery<'_>) -> EventFeed<'_, C> {
        EventFeed::of_events(self, query)
    }

    /// Fetches one page of events and the cursor behind it.
    pub fn event_page(&self, query: &EventQuery<'_>) -> Call<'_, C, EventPage> {
        self.get(query.path())
    }

    /// Fetches an event with its attempts.
    pub fn event(&self, id: Uuid) -> Call<'_, C, Event> {
        self.get(format!("/events/{id}"))
    }

    /// Sends an event again.
    pub fn replay_event(&self, id: Uuid) -> Call<'_, C, Replayed> {
        self.post(format!("/events/{id}/replay"), &json!({}))
    }

    /// Sends events again.
    pub fn replay_events(&self, filter: &ReplayFilter) -> Call<'_, C, Replayed> {
        self.post("/events/replay", filter)
    }
}
