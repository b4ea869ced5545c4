//! `guerdon distribution list`.

use guerdon_console::numbers;
use guerdon_domain::distributions::{Schedule as DistributionSchedule, SkippedDate, list_schedules};
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};

use super::schedule::ScheduleView;
use crate::commands::arguments::identifiers::CompanyArgument;
use crate::commands::output::format_table;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// List a company's schedules, including cancelled ones, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon distribution list acme.example
  guerdon --output json distribution list acme.example")]
pub(crate) struct List {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
}

/// A schedule and its skipped dates.
#[derive(Serialize)]
struct ListedScheduleView {
    #[serde(flatten)]
    schedule: ScheduleView,
    created_at: String,
    cancelled_at: Option<String>,
    /// When the payment of the next date first failed.
    failing_since: Option<String>,
    /// Why the last attempt was refused.
    failure: Option<String>,
    skipped: Vec<SkippedDateView>,
}

/// A date that was skipped permanently.
#[derive(Serialize)]
struct SkippedDateView {
    date: String,
    reason: String,
}

impl ListedScheduleView {
    fn from_schedule(repeating: &DistributionSchedule, skipped: &[SkippedDate]) -> Self {
        Self {
            schedule: ScheduleView::from_schedule(repeating),
            created_at: repeating.created_at.to_string(),
            cancelled_at: repeating.cancelled_at.map(|at| at.to_string()),
            failing_since: repeating.failed_attempts.as_ref().map(|failing| failing.since.to_string()),
            failure: repeating.failed_attempts.as_ref().map(|failing| failing.reason.clone()),
            skipped: skipped
                .iter()
                .map(|skipped| SkippedDateView {
                    date: skipped.due_on.to_string(),
                    reason: skipped.reason.clone(),
                })
                .collect(),
        }
    }

    fn to_row(&self) -> Vec<String> {
        let schedule = &self.schedule;
        let state = match (&self.cancelled_at, &self.failure) {
            (Some(at), _) => format!("cancelled {at}"),
            (None, Some(why)) => format!("failing: {why}"),
            (None, None) => String::new(),
        };
        vec![
            schedule.id.to_string(),
            schedule.wallet.to_owned(),
            numbers::format_integer(schedule.points),
            schedule.every.to_owned(),
            schedule.start.clone(),
            schedule.next.clone().unwrap_or_default(),
            self.skipped.iter().map(|skipped| skipped.date.as_str()).collect::<Vec<_>>().join(" "),
            state,
        ]
    }
}

impl CommandView for Vec<ListedScheduleView> {
    fn to_text(&self) -> String {
        let head = ["id", "wallet", "points", "every", "start", "next", "skipped", "state"];
        format_table(&head, &self.iter().map(ListedScheduleView::to_row).collect::<Vec<_>>())
    }
}

impl RunnableCommand for List {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company_id.find_id(environment)?;
        let found = environment.store.read_snapshot(|reads| list_schedules(reads, company))?;
        let schedules =
            found.iter().map(|(schedule, skipped)| ListedScheduleView::from_schedule(schedule, skipped));
        schedules.collect::<Vec<_>>().to_output()
    }
}
