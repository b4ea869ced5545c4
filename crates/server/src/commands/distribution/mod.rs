//! `guerdon distribution`.

mod cancel;
mod list;
mod run;
mod schedule;

use guerdon_domain::distributions::ScheduleError;

use crate::commands::error::refusals;
use crate::commands::group::command_group;

command_group! {
    enum DistributionCommand {
        /// Give points to users, all or nothing, from the reserve.
        Run(run::Run),
        /// Give points again and again, every week or every month.
        Schedule(schedule::Schedule),
        /// Show a company's schedules.
        List(list::List),
        /// End a schedule.
        Cancel(cancel::Cancel),
    }
}

refusals!(ScheduleError);
