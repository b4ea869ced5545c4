//! What the pages show: plain data, that whoever serves them fills. No type here knows a database, HTTP or a clock.
//!
//! Points are whole points, `dollars` what they are worth as it is to be shown (`1,234.50`, without a sign), ids are shown
//! as they are, durations are microseconds. Nobody's name or address belongs in here, an operator's user aside.

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

/// Something with a page of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub id: String,
    pub name: String,
}

/// One page of a table, already sorted and cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<T> {
    pub rows: Vec<T>,
    /// How many there are on all pages.
    pub total: u64,
}

/// A piece of what is read from its newest end, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch<T> {
    pub rows: Vec<T>,
    /// Where what is newer ends; none where nothing is.
    pub newer: Option<String>,
    /// Where what is older begins; none where nothing is.
    pub older: Option<String>,
}
