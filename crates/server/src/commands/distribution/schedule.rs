//! `guerdon distribution schedule`.

use guerdon_console::numbers;
use guerdon_domain::distributions::{
    CreateSchedule, Period, Schedule as DistributionSchedule, create_schedule,
};
use guerdon_domain::values::IsoDate;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::WalletName;
use crate::commands::arguments::identifiers::CompanyArgument;
use crate::commands::arguments::payment::{IdempotencyKeyArgument, execute_once_in_transaction};
use crate::commands::arguments::points_argument::PointsArgument;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// The interval between the dates of a schedule.
#[derive(Debug, Clone, Copy, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum IntervalName {
    /// Every seven days.
    Week,
    /// On the same day of every month, or on the last day of a shorter month.
    Month,
}

impl From<IntervalName> for Period {
    fn from(every: IntervalName) -> Self {
        match every {
            IntervalName::Week => Self::Week,
            IntervalName::Month => Self::Month,
        }
    }
}

/// Schedule a distribution that repeats. At the start of each date in UTC, it pays every user who is then active (for
/// manager_wallet: every active manager), all or nothing. Past dates that were not paid, for example because no service
/// was running, are paid late: each once, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon distribution schedule acme.example --wallet peer_wallet --points 50 \
    --every month --start 2100-01-31 --key monthly-bonus
  guerdon distribution schedule acme.example --wallet user_wallet --points 10 \
    --every week --start 2100-02-01")]
pub(crate) struct Schedule {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    /// The wallet that receives the points
    #[arg(long, value_enum)]
    wallet: WalletName,
    #[command(flatten)]
    #[serde(flatten)]
    sum: PointsArgument,
    /// The interval
    #[arg(long, value_enum)]
    every: IntervalName,
    /// The first date. If it is in the past, it and all dates since then are paid.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = check_date)]
    start: String,
    #[command(flatten)]
    #[serde(flatten)]
    key: IdempotencyKeyArgument,
}

fn check_date(text: &str) -> Result<String, String> {
    IsoDate::parse(text).map(|date| date.to_string()).map_err(|cause| cause.to_string())
}

/// A schedule.
#[derive(Serialize)]
pub(super) struct ScheduleView {
    pub(super) id: Uuid,
    pub(super) company_id: Uuid,
    pub(super) wallet: &'static str,
    pub(super) points: i64,
    pub(super) every: &'static str,
    pub(super) start: String,
    /// `None` if the schedule is cancelled.
    pub(super) next: Option<String>,
}

impl ScheduleView {
    pub(super) fn from_schedule(schedule: &DistributionSchedule) -> Self {
        Self {
            id: schedule.id.as_uuid(),
            company_id: schedule.company_id.as_uuid(),
            wallet: schedule.wallet.name(),
            points: schedule.points.get(),
            every: schedule.period.name(),
            start: schedule.start_on.to_string(),
            next: schedule.cancelled_at.is_none().then(|| schedule.next_on.to_string()),
        }
    }
}

impl CommandView for ScheduleView {
    fn to_text(&self) -> String {
        let Self { id, points, wallet, every, .. } = self;
        let next = self.next.as_deref().unwrap_or("never");
        let points = numbers::count_with_noun(points.unsigned_abs(), "point", "points");
        format!("schedule {id}: {points} into each {wallet} every {every}, next on {next}")
    }
}

impl RunnableCommand for Schedule {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company_id.find_company(environment)?;
        let start_on = IsoDate::parse(&self.start).map_err(CommandError::refused)?;
        let (wallet, every, sum) = (self.wallet.into(), self.every.into(), self.sum.to_sum()?);
        let new = CreateSchedule { company_id: company.id, wallet, sum, period: every, start_on };
        let request =
            ("distribution schedule", company.id.as_uuid(), self.wallet, &self.sum, self.every, &self.start);
        execute_once_in_transaction(environment, company.id, &self.key, &request, |tx| {
            let created = create_schedule(tx, &new, &environment.context())?;
            ScheduleView::from_schedule(&created).to_output()
        })
    }
}
