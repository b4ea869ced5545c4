//! The dates of schedules, paid as they come.

use std::time::{Duration, Instant};

use guerdon_domain::causes::{Actor, Origin};
use guerdon_domain::distributions::{DateEnd, Ran, run_due};
use guerdon_domain::ports::{Context, Store};
use guerdon_webhook_dispatcher::Bodies;

use crate::world::{SystemClock, SystemIds};

/// How often it looks for dates that are due.
pub(super) const EVERY: Duration = Duration::from_secs(1);
/// How long it goes on at a stretch: whoever wants to stop waits for so long at most, and for one distribution.
const AT_A_STRETCH: Duration = Duration::from_secs(4);

/// Pays what is due, one date after the other.
pub(super) fn pay_due(store: &dyn Store) {
    let origin = Origin { actor: Actor::Schedule, reference: None, key: None };
    let context = Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, origin };
    let begun = Instant::now();
    while begun.elapsed() < AT_A_STRETCH {
        match run_due(store, &context) {
            Ok(Some(ran)) => told(&ran),
            Ok(None) => return,
            Err(cause) => return log::warn!("a distribution that is due has to wait: {cause}"),
        }
    }
}

fn told(Ran { schedule, due_on, ended }: &Ran) {
    match ended {
        DateEnd::Paid { users } => log::info!("schedule {schedule}: {due_on} is paid, users: {users}"),
        DateEnd::Refused { reason, again_at } => {
            let again_at = again_at.to_string();
            log::info!(
                "schedule {schedule}: {due_on} could not be paid ({reason}), tried again at {again_at}"
            );
        }
        DateEnd::GivenUp { reason } => log::info!("schedule {schedule}: {due_on} is given up ({reason})"),
        DateEnd::Overtaken => {}
    }
}
