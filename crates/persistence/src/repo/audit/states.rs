//! Checks that the current state of each audited setting matches its latest audit entry.

use std::collections::BTreeMap;
use std::ops::Range;

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::ports::StoreError;

use super::super::Unit;
use crate::rows::schema::{audit_entries, companies, occasions, providers, saml_settings, schedules};
use crate::rows::types::Id;
use crate::rows::{
    AuditEntryRow, OccasionState, OptionsState, ProviderState, SamlState, ScheduleState, State as _, Subject,
};

/// The number of entries that are read together.
const PAGE: i64 = 10_000;

impl Unit<'_> {
    /// The digest of a subject's current state; `None` if it does not exist.
    pub(in super::super) fn state_of(&mut self, subject: Subject) -> Result<Option<Vec<u8>>, StoreError> {
        self.query(|conn| match subject {
            Subject::Provider(id) => {
                let row = providers::table.find(id).select(ProviderState::as_select()).get_result(conn);
                Ok(row.optional()?.map(|state| state.digest()))
            }
            Subject::Options(id) => {
                let row = companies::table.find(id).select(OptionsState::as_select()).get_result(conn);
                Ok(row.optional()?.map(|state| state.digest()))
            }
            Subject::Saml(id) => {
                let row = saml_settings::table.find(id).select(SamlState::as_select()).get_result(conn);
                Ok(row.optional()?.map(|state| state.digest()))
            }
            Subject::Schedule(id) => {
                let row = schedules::table.find(id).select(ScheduleState::as_select()).get_result(conn);
                Ok(row.optional()?.map(|state| state.digest()))
            }
            Subject::GlobalOccasion(id) => {
                let row = occasions::table.find(id).select(OccasionState::as_select()).get_result(conn);
                Ok(row.optional()?.map(|state| state.digest()))
            }
        })
    }

    pub(super) fn audit_states(&mut self, findings: &mut Findings) -> Result<(), StoreError> {
        let noted = self.latest_states()?;
        for (subject, digest) in &noted {
            let now = self.state_of(*subject)?;
            findings.demand(now == *digest, "audit log", || {
                format!("{} is not as its latest audit entry left it", name(*subject))
            });
        }
        for subject in self.audited_subjects()? {
            findings.demand(noted.contains_key(&subject), "audit log", || {
                format!("{} has no audit entry", name(subject))
            });
        }
        Ok(())
    }

    /// The states that the latest entry about each subject recorded.
    fn latest_states(&mut self) -> Result<BTreeMap<Subject, Option<Vec<u8>>>, StoreError> {
        let (mut noted, mut behind) = (BTreeMap::new(), None);
        loop {
            let page = self.entries_in(i64::MIN..i64::MAX, behind, PAGE)?;
            let Some((position, last)) = page.last() else { return Ok(noted) };
            behind = Some((*position, last.id()));
            let entries =
                page.into_iter().filter_map(|(_, entry)| Some((entry.subject()?, entry.state_digest)));
            noted.extend(entries);
        }
    }

    /// All subjects that must have an audit entry, because only audited actions create or set them.
    fn audited_subjects(&mut self) -> Result<Vec<Subject>, StoreError> {
        let mut all = Vec::new();
        all.extend(
            self.query(|conn| providers::table.select(providers::id).get_results(conn))?
                .into_iter()
                .map(Subject::Provider),
        );
        let optional = companies::table.filter(companies::allow_zero_points.eq(true)).select(companies::id);
        all.extend(self.query(|conn| optional.get_results(conn))?.into_iter().map(Subject::Options));
        let saml = saml_settings::table.select(saml_settings::company_id);
        all.extend(self.query(|conn| saml.get_results(conn))?.into_iter().map(Subject::Saml));
        let ids = schedules::table.select(schedules::id);
        all.extend(self.query(|conn| ids.get_results(conn))?.into_iter().map(Subject::Schedule));
        let global = occasions::table.filter(occasions::company_id.is_null()).select(occasions::id);
        all.extend(self.query(|conn| global.get_results(conn))?.into_iter().map(Subject::GlobalOccasion));
        Ok(all)
    }

    /// The next audit entries in order: those in a range of positions, after a place in it.
    pub(super) fn entries_in(
        &mut self,
        range: Range<i64>,
        behind: Option<(i64, Id)>,
        limit: i64,
    ) -> Result<Vec<(i64, AuditEntryRow<'static>)>, StoreError> {
        let all = audit_entries::table
            .filter(audit_entries::position.lt(range.end))
            .order((audit_entries::position, audit_entries::id))
            .limit(limit)
            .select((audit_entries::position, AuditEntryRow::as_select()));
        self.query(|conn| match behind {
            None => all.filter(audit_entries::position.ge(range.start)).get_results(conn),
            Some((position, id)) => all
                .filter(audit_entries::position.ge(position))
                .filter(audit_entries::position.gt(position).or(audit_entries::id.gt(id)))
                .get_results(conn),
        })
    }
}

fn name(subject: Subject) -> String {
    match subject {
        Subject::Provider(id) => format!("provider {}", id.0),
        Subject::Options(id) => format!("the options of company {}", id.0),
        Subject::Saml(id) => format!("the single sign-on settings of company {}", id.0),
        Subject::Schedule(id) => format!("schedule {}", id.0),
        Subject::GlobalOccasion(id) => format!("global occasion {}", id.0),
    }
}
