//! The content of the pages as plain data, which the server fills in. No type here depends on a database, HTTP or a
//! clock.
//!
//! Points are whole points. `dollars` is their value, formatted for display (`1,234.50`, without a sign). Ids are
//! shown unchanged. Durations are in microseconds. Names and addresses of persons are excluded, except for an
//! operator's user name.

mod attempt;
mod audit;
mod capped_count;
mod company;
mod event;
mod overview;
mod provider;
mod request;
mod schedule;
mod search;
mod series;
mod user;

pub use attempt::{Attempt, AttemptResult};
pub use audit::{Actor, AuditEntry, AuditLog, CompanyFilterResult};
pub use capped_count::CappedCount;
pub use company::{Circulation, Companies, Company, CompanyRow, OccasionUse, Reserve};
pub use event::{Event, EventRow, EventState, Events};
pub use overview::{
    Activity, ApiStatistics, Certificate, DeliveryCounts, LedgerStatus, MailCounts, Overview, Problems,
    PruneRun, Seal, ServiceStatus, Verification,
};
pub use provider::{
    DeliveryFailure, LatestResults, Percentiles, Performance, Provider, ProviderDetail, ProviderRow,
    Providers, UndeliveredEvents,
};
pub use request::{FailedRequest, FailedRequests};
pub use schedule::{Schedule, ScheduleFailure, Schedules};
pub use search::{FoundKind, FoundObject, SearchOutcome, SearchResult};
pub use series::{BucketSize, Point, Series};
pub use user::{Movement, User, UserWallet};

/// A reference to an object that has its own page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectReference {
    pub id: String,
    pub name: String,
}

/// One page of a sorted table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePage<T> {
    pub rows: Vec<T>,
    /// The number of rows on all pages.
    pub total: u64,
}

/// A section of a log, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage<T> {
    pub rows: Vec<T>,
    /// The cursor for newer entries; `None` if the section contains the newest.
    pub newer: Option<String>,
    /// The cursor for older entries; `None` if the section contains the oldest.
    pub older: Option<String>,
}
