//! `guerdon distribution`.

mod cancel;
mod list;
mod run;
mod schedule;

use guerdon_domain::distributions::ScheduleError;

use crate::commands::error::impl_from_errors;
use crate::commands::group_macro::command_group;

command_group! {
    enum DistributionCommand {
        /// Distribute points from the reserve to users, all or nothing.
        Run(run::Run),
        /// Schedule a weekly or monthly distribution.
        Schedule(schedule::Schedule),
        /// List a company's schedules.
        List(list::List),
        /// Cancel a schedule.
        Cancel(cancel::Cancel),
    }
}

impl_from_errors!(ScheduleError);
