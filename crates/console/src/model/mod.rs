//! The content of the pages as plain data, which the server fills in. No type here depends on a database, HTTP or a
//! clock.
//!
//! Points are whole points. `dollars` is their value, formatted for display (`1,234.50`, without a sign). Ids are
//! shown unchanged. Durations are in microseconds. Names and addresses of persons are excluded, except for an
//! operator's user name.

mod attempt;
mod audit;
mod company;
mod counted;
mod event;
mod overview;
mod provider;
mod schedule;
mod series;

pub use attempt::Attempt;
pub use audit::{Actor, AuditEntry, AuditLog};
pub use company::{Circulation, Companies, Company, CompanyRow, OccasionUse, Reserve};
pub use counted::Counted;
pub use event::{Event, EventRow, EventState, Events};
pub use overview::{
    Activity, Api, Certificate, Deliveries, Ledger, Mails, Overview, Seal, Service, Troubles, Verification,
};
pub use provider::{Failure, Performance, Provider, ProviderDetail, ProviderRow, Providers, Waiting};
pub use schedule::{Failing, Schedule, Schedules};
pub use series::{Point, Series, Step};

/// A reference to an object that has its own page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub id: String,
    pub name: String,
}

/// One page of a table, sorted and cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<T> {
    pub rows: Vec<T>,
    /// The number of rows on all pages.
    pub total: u64,
}

/// A section of a log, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch<T> {
    pub rows: Vec<T>,
    /// The cursor for newer entries; `None` if the section contains the newest.
    pub newer: Option<String>,
    /// The cursor for older entries; `None` if the section contains the oldest.
    pub older: Option<String>,
}
