//! Checks that the next date of each schedule follows from its paid and missed dates, and that no date was
//! paid early.

use std::collections::{BTreeMap, BTreeSet};

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::audit_log::Action;
use guerdon_domain::distributions::Schedule;
use guerdon_domain::journal::{Act, JournalEntry};
use guerdon_domain::ports::{StoreError, Timestamp};
use guerdon_domain::values::{IsoDate, ScheduleId};
use time::Duration;

use super::super::Unit;
use crate::rows::schema::{audit_entries, journal_entries, missed_dates, schedules};
use crate::rows::types::Id;
use crate::rows::{JournalEntryRow, MissedDateRow, ScheduleRow, kind};

/// The number of schedules that are read together, each with all its dates.
const PAGE: i64 = 50;
/// The maximum time until a schedule whose date has come is tried again.
const RETRIED_WITHIN: Duration = Duration::hours(2);

type Dates = BTreeMap<ScheduleId, BTreeSet<IsoDate>>;

impl Unit<'_> {
    pub(super) fn audit_schedules(
        &mut self,
        now: Timestamp,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let cancelled = self.cancelled_schedules()?;
        let mut behind: Option<Id<ScheduleId>> = None;
        loop {
            let page = self.schedules_after(behind)?;
            let Some(last) = page.last() else { return Ok(()) };
            behind = Some(Id(last.id));
            let ids: Vec<Id<ScheduleId>> = page.iter().map(|schedule| Id(schedule.id)).collect();
            let mut settled = self.missed_dates_of(&ids)?;
            let paid = self.payments_of(&ids)?;
            for schedule in &page {
                let paid = paid.get(&schedule.id).map(Vec::as_slice).unwrap_or_default();
                for cause in paid {
                    judge_payment(schedule, cause, &mut settled, findings);
                }
                let settled = settled.remove(&schedule.id).unwrap_or_default();
                judge_progress(schedule, &settled, now, findings);
                let ended = schedule.every.date_after(schedule.start_on, schedule.next_on).is_none();
                let fits = schedule.cancelled_at.is_some() == cancelled.contains(&schedule.id)
                    || (ended && schedule.cancelled_at.is_some());
                findings.demand(fits, "schedule", || {
                    format!("schedule {} and the audit log disagree on its cancellation", schedule.id)
                });
            }
        }
    }

    fn cancelled_schedules(&mut self) -> Result<BTreeSet<ScheduleId>, StoreError> {
        let ids: Vec<Option<Id>> = self.query(|conn| {
            audit_entries::table
                .filter(audit_entries::action.eq(Action::ScheduleCancelled.code()))
                .select(audit_entries::object_id)
                .get_results(conn)
        })?;
        Ok(ids.into_iter().flatten().map(|id| id.0.into()).collect())
    }

    fn schedules_after(&mut self, behind: Option<Id<ScheduleId>>) -> Result<Vec<Schedule>, StoreError> {
        let behind = behind.unwrap_or(Id(uuid::Uuid::nil().into()));
        let rows: Vec<ScheduleRow> = self.query(|conn| {
            schedules::table
                .filter(schedules::id.gt(behind))
                .order(schedules::id)
                .limit(PAGE)
                .select(ScheduleRow::as_select())
                .get_results(conn)
        })?;
        self.keep(rows.into_iter().map(ScheduleRow::read).collect())
    }

    fn missed_dates_of(&mut self, ids: &[Id<ScheduleId>]) -> Result<Dates, StoreError> {
        let rows: Vec<MissedDateRow> = self.query(|conn| {
            missed_dates::table
                .filter(missed_dates::schedule_id.eq_any(ids))
                .select(MissedDateRow::as_select())
                .get_results(conn)
        })?;
        let mut all = Dates::new();
        for row in rows {
            let missed = self.keep(row.read())?;
            all.entry(missed.schedule_id).or_default().insert(missed.due_on);
        }
        Ok(all)
    }

    fn payments_of(
        &mut self,
        ids: &[Id<ScheduleId>],
    ) -> Result<BTreeMap<ScheduleId, Vec<JournalEntry>>, StoreError> {
        let subjects: Vec<Id> = ids.iter().map(|id| Id(id.0.as_uuid())).collect();
        let rows: Vec<JournalEntryRow<'static>> = self.query(|conn| {
            journal_entries::table
                .filter(
                    journal_entries::subject_id.eq_any(&subjects).and(journal_entries::due_on.is_not_null()),
                )
                .filter(journal_entries::kind.eq(kind::DISTRIBUTION))
                .select(JournalEntryRow::as_select())
                .get_results(conn)
        })?;
        let mut all: BTreeMap<ScheduleId, Vec<JournalEntry>> = BTreeMap::new();
        for cause in rows.iter().filter_map(|row| row.read().ok()) {
            if let Act::Distribution { date: Some(date), .. } = &cause.act {
                all.entry(date.schedule).or_default().push(cause);
            }
        }
        Ok(all)
    }
}

fn judge_payment(schedule: &Schedule, cause: &JournalEntry, settled: &mut Dates, findings: &mut Findings) {
    let Act::Distribution { wallet, points, date: Some(date), .. } = cause.act else { return };
    settled.entry(schedule.id).or_default().insert(date.due_on);
    let fits = (wallet, points, cause.company_id) == (schedule.wallet, schedule.points, schedule.company_id);
    findings.demand(fits, "schedule", || {
        format!("schedule {} is not as it was when it paid {}", schedule.id, date.due_on)
    });
    findings.demand(cause.created_at >= date.due_on.begins(), "schedule", || {
        format!("schedule {} paid {} before that date", schedule.id, date.due_on)
    });
}

/// The next date is the first one that is neither paid nor missed, and it is tried when it comes.
fn judge_progress(schedule: &Schedule, settled: &BTreeSet<IsoDate>, now: Timestamp, findings: &mut Findings) {
    let dates = (0..).map_while(|n| schedule.every.date(schedule.start_on, n));
    let open = dates.into_iter().find(|date| !settled.contains(date));
    if schedule.cancelled_at.is_some() {
        return;
    }
    findings.demand(open == Some(schedule.next_on), "schedule", || {
        format!("schedule {} goes on with {}, which is not its next date", schedule.id, schedule.next_on)
    });
    let begins = schedule.next_on.begins();
    let fits = schedule.due_at == begins || (begins..=now + RETRIED_WITHIN).contains(&schedule.due_at);
    findings.demand(fits, "schedule", || {
        format!(
            "schedule {} is due at {}, its date {} begins at {begins}",
            schedule.id, schedule.due_at, schedule.next_on
        )
    });
}
