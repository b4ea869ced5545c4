//! Companies: counts and sums without personal data.

use time::OffsetDateTime;

use super::{AuditEntry, ObjectReference, Schedule, Series, TablePage};

/// A page of companies.
#[derive(Debug, Clone)]
pub struct Companies {
    pub list: TablePage<CompanyRow>,
}

/// A row of the table of companies.
#[derive(Debug, Clone)]
pub struct CompanyRow {
    pub id: String,
    pub name: String,
    pub domain: String,
    pub provider: ObjectReference,
    /// Users that are not deleted.
    pub users: u64,
    pub reserve: Reserve,
    pub recognitions_30d: u64,
}

/// A company's reserve.
#[derive(Debug, Clone)]
pub struct Reserve {
    pub points: i64,
    pub dollars: String,
    /// The threshold below which administrators are notified.
    pub alert_below: Option<i64>,
}

impl Reserve {
    /// Whether the balance is below the threshold.
    pub fn is_low(&self) -> bool {
        self.alert_below.is_some_and(|threshold| self.points < threshold)
    }
}

/// The details of a company.
#[derive(Debug, Clone)]
pub struct Company {
    pub id: String,
    pub name: String,
    pub domain: String,
    pub provider: ObjectReference,
    pub created_at: OffsetDateTime,
    pub allow_zero_points: bool,
    /// The settings, each with its label.
    pub facts: Vec<(&'static str, String)>,
    /// Users that are not deleted.
    pub users: u64,
    pub recognitions_30d: u64,
    pub reserve: Reserve,
    /// The balance at the end of each of the last 90 days.
    pub reserve_by_day: Series,
    pub circulation: Vec<Circulation>,
    /// The occasions used in the last 30 days, most used first.
    pub occasions: Vec<OccasionUse>,
    pub schedules: Vec<Schedule>,
    /// The company's entries of the audit log, newest first.
    pub audit: Vec<AuditEntry>,
}

/// The total of all wallets of one kind.
#[derive(Debug, Clone)]
pub struct Circulation {
    /// `user_wallet`, `peer_wallet` or `manager_wallet`.
    pub wallet: String,
    pub points: i64,
    pub dollars: String,
}

/// How often an occasion was used.
#[derive(Debug, Clone)]
pub struct OccasionUse {
    pub name: String,
    pub recognitions: u64,
    pub points: i64,
}
