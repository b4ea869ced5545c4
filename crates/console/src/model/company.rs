//! Companies: counts and sums, nobody in person.

use time::OffsetDateTime;

use super::{AuditEntry, Named, Rows, Schedule, Series};

/// A page of companies.
#[derive(Debug, Clone)]
pub struct Companies {
    pub list: Rows<CompanyRow>,
}

/// A company among others.
#[derive(Debug, Clone)]
pub struct CompanyRow {
    pub id: String,
    pub name: String,
    pub domain: String,
    pub provider: Named,
    /// Those that are not deleted.
    pub users: u64,
    pub reserve: Reserve,
    pub recognitions_30d: u64,
}

/// What a company can give.
#[derive(Debug, Clone)]
pub struct Reserve {
    pub points: i64,
    pub dollars: String,
    /// Its administrators are told when it falls below this.
    pub alert_below: Option<i64>,
}

impl Reserve {
    /// Whether its administrators were told.
    pub fn is_low(&self) -> bool {
        self.alert_below.is_some_and(|it| self.points < it)
    }
}

/// A company by itself.
#[derive(Debug, Clone)]
pub struct Company {
    pub id: String,
    pub name: String,
    pub domain: String,
    pub provider: Named,
    pub created_at: OffsetDateTime,
    pub points_per_dollar: u32,
    pub allow_zero_points: bool,
    /// Those that are not deleted.
    pub users: u64,
    pub recognitions_30d: u64,
    pub reserve: Reserve,
    /// Of the last 90 days: what it held at the end of each.
    pub reserve_by_day: Series,
    pub circulation: Vec<Circulation>,
    /// Of the last 30 days, most used first.
    pub occasions: Vec<OccasionUse>,
    pub schedules: Vec<Schedule>,
    /// Newest first.
    pub audit: Vec<AuditEntry>,
}

/// What the wallets of one kind hold.
#[derive(Debug, Clone)]
pub struct Circulation {
    /// `user_wallet`, `peer_wallet` or `manager_wallet`.
    pub wallet: String,
    pub points: i64,
    pub dollars: String,
}

/// How much an occasion was used.
#[derive(Debug, Clone)]
pub struct OccasionUse {
    pub name: String,
    pub recognitions: u64,
    pub points: i64,
}
