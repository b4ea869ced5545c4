//! `guerdon distribution list`.

use guerdon_domain::distributions::{MissedDate, Schedule as Repeating, schedules};
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};

use super::schedule::Shown;
use crate::commands::arguments::names::CompanyName;
use crate::commands::output::table;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// List a company's schedules, including cancelled ones, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon distribution list acme.example
  guerdon --output json distribution list acme.example")]
pub(crate) struct List {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
}

/// A schedule, with its dates that were not paid.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    schedule: Shown,
    created_at: String,
    cancelled_at: Option<String>,
    /// When paying its next date first failed.
    failing_since: Option<String>,
    /// Why the last attempt was refused.
    failure: Option<String>,
    missed: Vec<Missed>,
}

/// A date that was skipped permanently.
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
            cancelled_at: it.cancelled_at.map(|at| at.to_string()),
            failing_since: it.failing.as_ref().map(|failing| failing.since.to_string()),
            failure: it.failing.as_ref().map(|failing| failing.reason.clone()),
            missed: missed
                .iter()
                .map(|missed| Missed { date: missed.due_on.to_string(), reason: missed.reason.clone() })
                .collect(),
        }
    }

    fn row(&self) -> Vec<String> {
        let schedule = &self.schedule;
        let state = match (&self.cancelled_at, &self.failure) {
            (Some(at), _) => format!("cancelled {at}"),
            (None, Some(why)) => format!("failing: {why}"),
            (None, None) => String::new(),
        };
        vec![
            schedule.id.to_string(),
            schedule.wallet.to_owned(),
            schedule.points.to_string(),
            schedule.every.to_owned(),
            schedule.start.clone(),
            schedule.next.clone().unwrap_or_default(),
            self.missed.iter().map(|missed| missed.date.as_str()).collect::<Vec<_>>().join(" "),
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

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let company = self.company_id.find_id(environment)?;
        let found = environment.store.snapshot(|reads| schedules(reads, company))?;
        All(found.iter().map(|(schedule, missed)| Listed::of(schedule, missed)).collect()).output()
    }
}
