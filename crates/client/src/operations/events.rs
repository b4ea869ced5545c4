use serde_json::json;
use uuid::Uuid;

use crate::api::Api;
use crate::call::Call;
use crate::objects::{Event, EventPage, EventQuery, ReplayFilter, ReplayResult};
use crate::pagination::EventFeed;

/// Events (behaviour 25.5, 25.6).
impl<C> Api<C> {
    /// Reads all events so far, oldest first. To continue later, start another feed at the cursor of this feed.
    pub fn list_events(&self, query: &EventQuery<'_>) -> EventFeed<'_, C> {
        EventFeed::from_query(self, query)
    }

    /// Fetches one page of events and the cursor after it.
    pub fn get_event_page(&self, query: &EventQuery<'_>) -> Call<'_, C, EventPage> {
        self.get(query.first_page_path())
    }

    /// Fetches an event with its attempts.
    pub fn get_event(&self, id: Uuid) -> Call<'_, C, Event> {
        self.get(format!("/events/{id}"))
    }

    /// Sends an event again.
    pub fn replay_event(&self, id: Uuid) -> Call<'_, C, ReplayResult> {
        self.post(format!("/events/{id}/replay"), &json!({}))
    }

    /// Sends events again.
    pub fn replay_events(&self, filter: &ReplayFilter) -> Call<'_, C, ReplayResult> {
        self.post("/events/replay", filter)
    }
}
