//! `guerdon distribution schedule`.

use guerdon_domain::distributions::{CreateSchedule, Period, Schedule as Repeating, create_schedule};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::IsoDate;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::WalletName;
use crate::commands::arguments::names::CompanyName;
use crate::commands::arguments::sum::{Sum, format_points};
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// The interval between the dates of a schedule.
#[derive(Debug, Clone, Copy, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Every {
    /// Every seven days.
    Week,
    /// On the same day of every month, or on the last day of a shorter month.
    Month,
}

impl From<Every> for Period {
    fn from(every: Every) -> Self {
        match every {
            Every::Week => Self::Week,
            Every::Month => Self::Month,
        }
    }
}

/// Schedule a distribution that repeats. At the start of each date in UTC, it pays every user who is then active (for
/// manager_wallet: every active manager), all or nothing. Missed dates are paid once each, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon distribution schedule acme.example --wallet peer_wallet --points 50 \
    --every month --start 2100-01-31
  guerdon distribution schedule acme.example --wallet user_wallet --points 10 \
    --every week --start 2100-02-01")]
pub(crate) struct Schedule {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// The wallet that receives the points
    #[arg(long, value_enum)]
    wallet: WalletName,
    #[command(flatten)]
    #[serde(flatten)]
    sum: Sum,
    /// The interval
    #[arg(long, value_enum)]
    every: Every,
    /// The first date; if it is in the past, it and all dates since are paid.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    start: String,
}

fn date(text: &str) -> Result<String, String> {
    IsoDate::parse(text).map(|date| date.to_string()).map_err(|cause| cause.to_string())
}

/// A schedule.
#[derive(Serialize)]
pub(super) struct Shown {
    pub(super) id: Uuid,
    pub(super) company_id: Uuid,
    pub(super) wallet: &'static str,
    pub(super) points: i64,
    pub(super) every: &'static str,
    pub(super) start: String,
    /// `None` if the schedule is cancelled.
    pub(super) next: Option<String>,
}

impl Shown {
    pub(super) fn of(it: &Repeating) -> Self {
        Self {
            id: it.id.as_uuid(),
            company_id: it.company_id.as_uuid(),
            wallet: it.wallet.name(),
            points: it.points.get(),
            every: it.every.name(),
            start: it.start_on.to_string(),
            next: it.cancelled_at.is_none().then(|| it.next_on.to_string()),
        }
    }
}

impl View for Shown {
    fn text(&self) -> String {
        let Self { id, points, wallet, every, .. } = self;
        let next = self.next.as_deref().unwrap_or("never");
        let points = format_points(*points);
        format!("schedule {id}: {points} into each {wallet} every {every}, next on {next}")
    }
}

impl Runnable for Schedule {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let company = self.company_id.load(environment)?;
        let start_on = IsoDate::parse(&self.start).map_err(CommandError::refused)?;
        let (wallet, every, sum) = (self.wallet.into(), self.every.into(), self.sum.read()?);
        let command = CreateSchedule { company_id: company.id, wallet, sum, every, start_on };
        let made =
            environment.store.transaction(|tx| create_schedule(tx, &command, &environment.context()))?;
        Shown::of(&made).output()
    }
}
