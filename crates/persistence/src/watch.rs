//! Telling whoever sends that there is something to send, once it is committed.

use std::ops::BitOrAssign;
use std::sync::Arc;

/// What a committed unit of work queued for sending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queued {
    /// Events that are due.
    pub events: bool,
    pub mails: bool,
}

impl Queued {
    fn is_any(self) -> bool {
        self.events || self.mails
    }
}

impl BitOrAssign for Queued {
    fn bitor_assign(&mut self, other: Self) {
        self.events |= other.events;
        self.mails |= other.mails;
    }
}

/// Is told of every commit that queued something, on the thread that committed. Must not wait.
#[derive(Clone, Default)]
pub struct Watcher(Option<Arc<dyn Fn(Queued) + Send + Sync>>);

impl Watcher {
    /// Calls a function.
    pub fn new(tell: impl Fn(Queued) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn tell(&self, queued: Queued) {
        if let Some(tell) = self.0.as_ref().filter(|_| queued.is_any()) {
            tell(queued);
        }
    }
}
