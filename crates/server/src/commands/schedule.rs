//! `guerdon distribution schedule`, `list` and `cancel`.

use guerdon_domain::distributions::{
    CreateSchedule, MissedDate, Period, Schedule as Repeating, ScheduleError, cancel_schedule,
    create_schedule, schedules,
};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::{IsoDate, ScheduleId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::named::{CompanyName, id};
use super::output::table;
use super::sum::{Sum, in_words};
use super::wallet::WalletName;
use super::{CommandError, Output, Runnable, View, Workplace};

/// How often a schedule has a date.
#[derive(Debug, Clone, Copy, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Every {
    /// Every seven days.
    Week,
    /// On the same day of every month, or on the last day of one that is shorter.
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

/// Gives points again and again: on each date, as it begins in UTC, to every active user then (for manager_wallet: every
/// active manager), all or nothing. A date that was missed is made up, once, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Schedule {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// Into which wallet
    #[arg(long, value_enum)]
    wallet: WalletName,
    #[command(flatten)]
    #[serde(flatten)]
    sum: Sum,
    /// How often
    #[arg(long, value_enum)]
    every: Every,
    /// The first date; where it is past, it and those since are made up.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    start: String,
}

/// The schedules of a company, oldest first, cancelled ones too.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct List {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
}

/// Ends a schedule; what it has given stays.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Cancel {
    /// The schedule.
    #[arg(value_name = "SCHEDULE_ID", value_parser = id)]
    schedule_id: Uuid,
}

fn date(text: &str) -> Result<String, String> {
    IsoDate::parse(text).map(|it| it.to_string()).map_err(|cause| cause.to_string())
}

/// A schedule.
#[derive(Serialize)]
struct Shown {
    id: Uuid,
    company_id: Uuid,
    wallet: &'static str,
    points: i64,
    every: &'static str,
    start: String,
    /// None where it is cancelled.
    next: Option<String>,
}

impl Shown {
    fn of(it: &Repeating) -> Self {
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
        let points = in_words(*points);
        format!("schedule {id}: {points} into each {wallet} every {every}, next on {next}")
    }
}

/// A schedule with what became of its dates that were not paid.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    schedule: Shown,
    created_at: String,
    cancelled_at: Option<String>,
    /// Since when its next date could not be paid.
    failing_since: Option<String>,
    /// What refused the last try.
    failure: Option<String>,
    missed: Vec<Missed>,
}

/// A date that was given up.
#[derive(Serialize)]
struct Missed {
    date: String,
    reason: String,
}

impl Listed {
    fn of(it: &Repeating, missed: &[MissedDate]) -> Self {
        Self {
            schedule: Shown::of(it),
            created_at: it.created_at.to_string(),
            cancelled_at: it.cancelled_at.map(|it| it.to_string()),
            failing_since: it.failing.as_ref().map(|it| it.since.to_string()),
            failure: it.failing.as_ref().map(|it| it.reason.clone()),
            missed: missed
                .iter()
                .map(|it| Missed { date: it.due_on.to_string(), reason: it.reason.clone() })
                .collect(),
        }
    }

    fn row(&self) -> Vec<String> {
        let it = &self.schedule;
        let state = match (&self.cancelled_at, &self.failure) {
            (Some(at), _) => format!("cancelled {at}"),
            (None, Some(why)) => format!("failing: {why}"),
            (None, None) => String::new(),
        };
        vec![
            it.id.to_string(),
            it.wallet.to_owned(),
            it.points.to_string(),
            it.every.to_owned(),
            it.start.clone(),
            it.next.clone().unwrap_or_default(),
            self.missed.iter().map(|it| it.date.as_str()).collect::<Vec<_>>().join(" "),
            state,
        ]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct All(Vec<Listed>);

impl View for All {
    fn text(&self) -> String {
        let head = ["id", "wallet", "points", "every", "start", "next", "missed", "state"];
        table(&head, &self.0.iter().map(Listed::row).collect::<Vec<_>>())
    }
}

#[derive(Serialize)]
struct Cancelled {
    id: Uuid,
    cancelled: bool,
}

impl View for Cancelled {
    fn text(&self) -> String {
        format!("schedule {} is cancelled", self.id)
    }
}

impl Runnable for Schedule {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let company = self.company_id.company(workplace)?;
        let start_on = IsoDate::parse(&self.start).map_err(CommandError::refused)?;
        let (wallet, every, sum) = (self.wallet.into(), self.every.into(), self.sum.read()?);
        let command = CreateSchedule { company_id: company.id, wallet, sum, every, start_on };
        let made = workplace.store.transaction(|tx| create_schedule(tx, &command, &workplace.context()))?;
        Shown::of(&made).output()
    }
}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let company = self.company_id.id(workplace)?;
        let found = workplace.store.snapshot(|reads| schedules(reads, company))?;
        All(found.iter().map(|(it, missed)| Listed::of(it, missed)).collect()).output()
    }
}

impl Runnable for Cancel {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = ScheduleId::from_uuid(self.schedule_id);
        workplace.store.transaction(|tx| cancel_schedule(tx, id, &workplace.context()))?;
        Cancelled { id: self.schedule_id, cancelled: true }.output()
    }
}

refusals!(ScheduleError);
