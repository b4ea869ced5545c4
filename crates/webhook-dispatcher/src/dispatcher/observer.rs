//! What the dispatcher tells of its work, for metrics.

use std::time::Duration;

use guerdon_domain::values::ProviderId;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptResult {
    /// Confirmed with status 200.
    Delivered,
    /// Answered with another status.
    Rejected,
    /// Not answered, or not even sent.
    Failed,
}

impl AttemptResult {
    /// The label of metrics.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
        }
    }
}

/// Is told of the dispatcher's work. Called from the threads that send: it must be quick, and must not block.
pub trait Observer: Send + Sync {
    fn attempt_ended(&self, _provider: ProviderId, _result: AttemptResult, _took: Duration) {}

    /// So many attempts are in flight now: under way, or not settled yet.
    fn in_flight(&self, _attempts: usize) {}

    /// An event was given up; it waits for the operator to replay it.
    fn exhausted(&self) {}
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
