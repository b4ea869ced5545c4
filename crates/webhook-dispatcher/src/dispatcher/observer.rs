//! The interface through which the dispatcher reports to metrics.

use std::time::Duration;

use guerdon_domain::values::ProviderId;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptResult {
    /// The response had status 200.
    Delivered,
    /// The response had another status.
    Rejected,
    /// There was no response, or the request was not sent.
    Failed,
}

impl AttemptResult {
    /// Returns the value of the metrics label.
    pub const fn metric_label(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
        }
    }
}

/// Receives notifications about the dispatcher's work. Sender threads call it, so implementations must be quick and
/// must not block.
pub trait DispatcherObserver: Send + Sync {
    fn attempt_ended(&self, _provider: ProviderId, _result: AttemptResult, _took: Duration) {}

    /// Called when the number of attempts in flight (in progress or not yet settled) changes.
    fn set_in_flight(&self, _attempts: usize) {}

    /// An event is exhausted: it is sent again only if it is replayed.
    fn event_exhausted(&self) {}
}

/// Ignores all notifications.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl DispatcherObserver for NoObserver {}
