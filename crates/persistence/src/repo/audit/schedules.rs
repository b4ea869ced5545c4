//! Checks that the next date of each schedule follows from its paid and skipped dates, and that no date was
//! paid early.

use std::collections::{BTreeMap, BTreeSet};

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::audit_log::Action;
use guerdon_domain::distributions::Schedule;
use guerdon_domain::journal::{EntryKind, JournalEntry};
use guerdon_domain::ports::{StoreError, Timestamp};
use guerdon_domain::values::{IsoDate, ScheduleId};
use time::Duration;

use super::Unit;
use crate::rows::schema::{audit_entries, journal_entries, schedules, skipped_dates};
use crate::rows::{Id, JournalEntryRow, ScheduleRow, SkippedDateRow, kind};

/// The number of schedules that are read together, each with all its dates.
const PAGE_SCHEDULES: i64 = 50;
/// The maximum time until a refused date is retried.
const RETRY_INTERVAL_MAX: Duration = Duration::hours(2);

type Dates = BTreeMap<ScheduleId, BTreeSet<IsoDate>>;

impl Unit<'_> {
    pub(super) fn audit_schedules(
        &mut self,
        now: Timestamp,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let cancelled = self.cancelled_schedules()?;
        let mut after: Option<Id<ScheduleId>> = None;
        loop {
            let page = self.load_schedules_after(after)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(Id(last.id));
            let ids: Vec<Id<ScheduleId>> = page.iter().map(|schedule| Id(schedule.id)).collect();
            let mut paid_or_skipped_dates = self.load_skipped_dates(&ids)?;
            let paid = self.load_payments(&ids)?;
            for schedule in &page {
                let paid = paid.get(&schedule.id).map(Vec::as_slice).unwrap_or_default();
                for entry in paid {
                    audit_payment(schedule, entry, &mut paid_or_skipped_dates, findings);
                }
                let paid_or_skipped_dates = paid_or_skipped_dates.remove(&schedule.id).unwrap_or_default();
                audit_progress(schedule, &paid_or_skipped_dates, now, findings);
                let ended = schedule.period.date_after(schedule.start_on, schedule.next_on).is_none();
                let matches = schedule.cancelled_at.is_some() == cancelled.contains(&schedule.id)
                    || (ended && schedule.cancelled_at.is_some());
                findings.require(matches, "schedule", || {
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

    fn load_schedules_after(&mut self, after: Option<Id<ScheduleId>>) -> Result<Vec<Schedule>, StoreError> {
        let after = after.unwrap_or(Id(uuid::Uuid::nil().into()));
        self.list(ScheduleRow::into_schedule, |conn| {
            schedules::table
                .filter(schedules::id.gt(after))
                .order(schedules::id)
                .limit(PAGE_SCHEDULES)
                .select(ScheduleRow::as_select())
                .get_results(conn)
        })
    }

    fn load_skipped_dates(&mut self, ids: &[Id<ScheduleId>]) -> Result<Dates, StoreError> {
        let found = self.list(SkippedDateRow::into_skipped_date, |conn| {
            skipped_dates::table
                .filter(skipped_dates::schedule_id.eq_any(ids))
                .select(SkippedDateRow::as_select())
                .get_results(conn)
        })?;
        let mut all = Dates::new();
        for skipped in found {
            all.entry(skipped.schedule_id).or_default().insert(skipped.due_on);
        }
        Ok(all)
    }

    fn load_payments(
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
        for entry in rows.iter().filter_map(|row| row.to_journal_entry().ok()) {
            if let EntryKind::Distribution { date: Some(date), .. } = &entry.kind {
                all.entry(date.schedule).or_default().push(entry);
            }
        }
        Ok(all)
    }
}

fn audit_payment(
    schedule: &Schedule,
    entry: &JournalEntry,
    paid_or_skipped_dates: &mut Dates,
    findings: &mut Findings,
) {
    let EntryKind::Distribution { wallet, points, date: Some(date), .. } = entry.kind else { return };
    paid_or_skipped_dates.entry(schedule.id).or_default().insert(date.due_on);
    let matches =
        (wallet, points, entry.company_id) == (schedule.wallet, schedule.points, schedule.company_id);
    findings.require(matches, "schedule", || {
        format!("schedule {} was changed after it paid {}", schedule.id, date.due_on)
    });
    findings.require(entry.created_at >= date.due_on.start_of_day(), "schedule", || {
        format!("schedule {} paid {} before that date", schedule.id, date.due_on)
    });
}

/// Checks that the next date is the first one that is neither paid nor skipped, and that its first attempt is
/// due at its start.
fn audit_progress(
    schedule: &Schedule,
    paid_or_skipped_dates: &BTreeSet<IsoDate>,
    now: Timestamp,
    findings: &mut Findings,
) {
    let dates = (0..).map_while(|n| schedule.period.nth_date(schedule.start_on, n));
    let open = dates.into_iter().find(|date| !paid_or_skipped_dates.contains(date));
    if schedule.cancelled_at.is_some() {
        return;
    }
    findings.require(open == Some(schedule.next_on), "schedule", || {
        format!("schedule {} continues with {}, which is not its next date", schedule.id, schedule.next_on)
    });
    let begins = schedule.next_on.start_of_day();
    let matches = schedule.due_at == begins || (begins..=now + RETRY_INTERVAL_MAX).contains(&schedule.due_at);
    findings.require(matches, "schedule", || {
        format!(
            "schedule {} is due at {}, but its date {} begins at {begins}",
            schedule.id, schedule.due_at, schedule.next_on
        )
    });
}
