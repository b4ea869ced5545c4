//! What a unit of work queued for sending.

use std::ops::BitOrAssign;

use guerdon_domain::ports::Wakes;

/// What a committed unit of work queued for sending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Queued {
    /// Whether due events were queued.
    pub(crate) events: bool,
    pub(crate) mails: bool,
}

impl Queued {
    /// Wakes the senders. Call it after the commit.
    pub(crate) fn tell(self, wakes: &Wakes) {
        let whom = [
            (self.events, &wakes.events),
            (self.mails, &wakes.mails),
            (self.events || self.mails, &wakes.elsewhere),
        ];
        whom.into_iter().filter(|(is_due, _)| *is_due).for_each(|(_, wake)| wake.wake());
    }
}

impl BitOrAssign for Queued {
    fn bitor_assign(&mut self, other: Self) {
        self.events |= other.events;
        self.mails |= other.mails;
    }
}
