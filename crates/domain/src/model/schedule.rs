//! Schedules and their dates.

use time::{Date, Month};

use crate::money::Points;
use crate::values::{CompanyId, IsoDate, ScheduleId, Timestamp, stored_enum};
use crate::wallets::WalletType;

stored_enum! {
    /// The interval between the dates of a schedule.
    enum Period {
        /// Every seven days.
        Week => 1, "week";
        /// Once a month, on the day of the start, or on the last day of a shorter month.
        Month => 2, "month";
    }
}

impl Period {
    /// Date number `n` of a schedule; the start is number 0. `None` after the year 9999.
    pub fn nth_date(self, start: IsoDate, n: u32) -> Option<IsoDate> {
        let start = start.to_date();
        let found = match self {
            Self::Week => start.checked_add(time::Duration::weeks(n.into()))?,
            Self::Month => months_after(start, n)?,
        };
        IsoDate::from_date(found).ok()
    }

    /// The date of a schedule that follows `date`.
    pub fn date_after(self, start: IsoDate, date: IsoDate) -> Option<IsoDate> {
        let (from, to) = (start.to_date(), date.to_date());
        let n = match self {
            Self::Week => (to - from).whole_weeks(),
            Self::Month => i64::from(months_since_year_zero(to)) - i64::from(months_since_year_zero(from)),
        };
        self.nth_date(start, u32::try_from(n.checked_add(1)?).ok()?)
    }
}

/// Months since the year 0.
fn months_since_year_zero(date: Date) -> i32 {
    date.year() * 12 + i32::from(u8::from(date.month())) - 1
}

fn months_after(start: Date, n: u32) -> Option<Date> {
    let all = months_since_year_zero(start).checked_add(i32::try_from(n).ok()?)?;
    let month = Month::try_from(u8::try_from(all % 12 + 1).ok()?).ok()?;
    let year = all / 12;
    Date::from_calendar_date(year, month, start.day().min(month.length(year))).ok()
}

/// A recurring distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub id: ScheduleId,
    /// The company whose reserve pays.
    pub company_id: CompanyId,
    pub wallet: WalletType,
    /// Points for each user.
    pub points: Points,
    pub period: Period,
    pub start_on: IsoDate,
    /// The oldest date that is neither paid nor skipped.
    pub next_on: IsoDate,
    /// When `next_on` is attempted next: at the start of that date in UTC, or later after a failed attempt.
    pub due_at: Timestamp,
    /// The failed attempts to run the distribution of `next_on`, if any.
    pub failed_attempts: Option<FailedAttempts>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was cancelled or ended.
    pub cancelled_at: Option<Timestamp>,
}

/// The failed attempts to run the distribution of a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempts {
    /// The time of the first failed attempt.
    pub since: Timestamp,
    /// The reason for the last refusal.
    pub reason: String,
}

/// A date whose distribution could not run in time, so that it was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedDate {
    pub schedule_id: ScheduleId,
    pub company_id: CompanyId,
    pub due_on: IsoDate,
    /// The reason for the last refusal.
    pub reason: String,
    /// When it was skipped.
    pub created_at: Timestamp,
}

impl Schedule {
    /// Advances to the next date. A schedule without a next date ends.
    pub(crate) fn advance_to_next_date(&mut self, now: Timestamp) {
        self.failed_attempts = None;
        match self.period.date_after(self.start_on, self.next_on) {
            Some(next) => (self.next_on, self.due_at) = (next, next.start_of_day()),
            None => self.cancelled_at = Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_date(text: &str) -> IsoDate {
        IsoDate::parse(text).unwrap()
    }

    fn first_dates(every: Period, start: &str, count: u32) -> Vec<String> {
        (0..count).map(|n| every.nth_date(parse_date(start), n).unwrap().to_string()).collect()
    }

    #[test]
    fn the_thirty_first_becomes_the_last_day_of_shorter_months() {
        let found = first_dates(Period::Month, "2026-01-31", 5);
        assert_eq!(found, ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]);
        assert_eq!(first_dates(Period::Month, "2028-01-31", 2), ["2028-01-31", "2028-02-29"]);
        assert_eq!(first_dates(Period::Month, "2026-01-30", 3), ["2026-01-30", "2026-02-28", "2026-03-30"]);
    }

    #[test]
    fn a_leap_day_recurs_on_the_last_day_of_each_month() {
        let found = first_dates(Period::Month, "2024-02-29", 13);
        assert_eq!(found.first().map(String::as_str), Some("2024-02-29"));
        assert_eq!(found.get(1).map(String::as_str), Some("2024-03-29"));
        assert_eq!(found.last().map(String::as_str), Some("2025-02-28"));
        assert_eq!(Period::Month.nth_date(parse_date("2024-02-29"), 48).unwrap(), parse_date("2028-02-29"));
        assert_eq!(
            Period::Month.nth_date(parse_date("1896-02-29"), 48).unwrap(),
            parse_date("1900-02-28"),
            "no leap year"
        );
        assert_eq!(
            Period::Month.nth_date(parse_date("1996-02-29"), 48).unwrap(),
            parse_date("2000-02-29"),
            "a leap year"
        );
    }

    #[test]
    fn dates_continue_into_the_next_year() {
        assert_eq!(first_dates(Period::Month, "2026-11-15", 3), ["2026-11-15", "2026-12-15", "2027-01-15"]);
        assert_eq!(first_dates(Period::Month, "2026-12-31", 2), ["2026-12-31", "2027-01-31"]);
        assert_eq!(first_dates(Period::Week, "2026-12-24", 3), ["2026-12-24", "2026-12-31", "2027-01-07"]);
        assert_eq!(first_dates(Period::Week, "2028-02-22", 3), ["2028-02-22", "2028-02-29", "2028-03-07"]);
    }

    #[test]
    fn date_after_returns_the_next_date_in_every_year() {
        for (every, start) in [(Period::Month, "0001-01-31"), (Period::Week, "0001-01-01")] {
            let mut last = parse_date(start);
            for n in 1..30_000 {
                let next = every.date_after(parse_date(start), last).unwrap();
                assert!(next > last);
                assert_eq!(Some(next), every.nth_date(parse_date(start), n));
                last = next;
            }
        }
    }

    #[test]
    fn no_date_is_after_the_year_9999() {
        for every in Period::ALL {
            let end = parse_date("9999-12-31");
            assert_eq!(every.nth_date(end, 0), Some(end));
            assert_eq!(every.date_after(end, end), None);
            assert_eq!(every.nth_date(end, u32::MAX), None);
        }
        assert_eq!(Period::Month.nth_date(parse_date("9999-11-30"), 1), Some(parse_date("9999-12-30")));
    }
}
