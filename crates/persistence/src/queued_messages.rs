//! What a unit of work queued for sending.

use std::ops::BitOrAssign;

use guerdon_domain::ports::{CommittedEvents, NewEvent, Notifiers};
use guerdon_domain::values::ProviderId;

use crate::failpoint::pass_failpoint;

/// What a committed unit of work queued for sending.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct QueuedMessages {
    /// Whether due events were queued.
    pub(crate) events: bool,
    pub(crate) notifications: bool,
    /// The providers that have new events, due or not.
    event_owners: Vec<ProviderId>,
}

impl QueuedMessages {
    /// Adds new events.
    pub(crate) fn add_events(&mut self, new: &[NewEvent]) {
        for event in new {
            self.events |= event.addressed;
            self.add_event_owner(event.provider_id);
        }
    }

    fn add_event_owner(&mut self, provider: ProviderId) {
        if !self.event_owners.contains(&provider) {
            self.event_owners.push(provider);
        }
    }

    /// Notifies the senders and the event feed. Call it after the commit.
    pub(crate) fn notify_senders(self, notifiers: &Notifiers) {
        pass_failpoint("outbox.notify");
        let has_new_events = !self.event_owners.is_empty();
        let whom = [
            (self.events, &notifiers.events),
            (self.notifications, &notifiers.notifications),
            (self.events || self.notifications || has_new_events, &notifiers.other_processes),
        ];
        whom.into_iter().filter(|(is_due, _)| *is_due).for_each(|(_, wake)| wake.notify_one());
        if has_new_events {
            notifiers.event_feed.notify(CommittedEvents::OfProviders(&self.event_owners));
        }
    }
}

impl BitOrAssign for QueuedMessages {
    fn bitor_assign(&mut self, other: Self) {
        self.events |= other.events;
        self.notifications |= other.notifications;
        other.event_owners.into_iter().for_each(|provider| self.add_event_owner(provider));
    }
}
