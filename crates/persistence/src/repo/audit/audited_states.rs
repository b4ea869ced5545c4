//! Checks that the current state of each audited setting matches its latest audit entry.

use std::collections::BTreeMap;
use std::ops::Range;

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::ports::StoreError;

use super::Unit;
use crate::rows::schema::{audit_entries, companies, occasions, providers, saml_settings, schedules};
use crate::rows::{
    AuditEntryRow, AuditedState, AuditedSubject, Id, OccasionState, OptionsState, ProviderState, SamlState,
    ScheduleState,
};

/// The number of entries that are read together.
const PAGE_ENTRIES: i64 = 10_000;

impl Unit<'_> {
    /// The digest of a subject's current state; `None` if it does not exist.
    pub(in super::super) fn load_state_digest(
        &mut self,
        subject: AuditedSubject,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.query(|conn| match subject {
            AuditedSubject::Provider(id) => {
                digest_of(providers::table.find(id).select(ProviderState::as_select()).get_result(conn))
            }
            AuditedSubject::Options(id) => {
                digest_of(companies::table.find(id).select(OptionsState::as_select()).get_result(conn))
            }
            AuditedSubject::Saml(id) => {
                digest_of(saml_settings::table.find(id).select(SamlState::as_select()).get_result(conn))
            }
            AuditedSubject::Schedule(id) => {
                digest_of(schedules::table.find(id).select(ScheduleState::as_select()).get_result(conn))
            }
            AuditedSubject::GlobalOccasion(id) => {
                digest_of(occasions::table.find(id).select(OccasionState::as_select()).get_result(conn))
            }
        })
    }

    pub(super) fn audit_states(&mut self, findings: &mut Findings) -> Result<(), StoreError> {
        let latest = self.latest_states()?;
        for (subject, digest) in &latest {
            let now = self.load_state_digest(*subject)?;
            findings.require(now == *digest, "audit log", || {
                format!("{} differs from its latest audit entry", subject_name(*subject))
            });
        }
        for subject in self.audited_subjects()? {
            findings.require(latest.contains_key(&subject), "audit log", || {
                format!("{} has no audit entry", subject_name(subject))
            });
        }
        Ok(())
    }

    /// For each subject, returns the state that the latest audit entry about the subject recorded.
    fn latest_states(&mut self) -> Result<BTreeMap<AuditedSubject, Option<Vec<u8>>>, StoreError> {
        let (mut latest, mut after) = (BTreeMap::new(), None);
        loop {
            let page = self.load_audit_entries(i64::MIN..i64::MAX, after, PAGE_ENTRIES)?;
            let Some((position, last)) = page.last() else { return Ok(latest) };
            after = Some((*position, last.id));
            let entries =
                page.into_iter().filter_map(|(_, entry)| Some((entry.state_subject()?, entry.state_digest)));
            latest.extend(entries);
        }
    }

    /// All subjects that must have an audit entry, because only audited actions create or set them.
    fn audited_subjects(&mut self) -> Result<Vec<AuditedSubject>, StoreError> {
        let mut all = Vec::new();
        all.extend(
            self.query(|conn| providers::table.select(providers::id).get_results(conn))?
                .into_iter()
                .map(AuditedSubject::Provider),
        );
        let optional = companies::table.filter(companies::allow_zero_points.eq(true)).select(companies::id);
        all.extend(self.query(|conn| optional.get_results(conn))?.into_iter().map(AuditedSubject::Options));
        let saml = saml_settings::table.select(saml_settings::company_id);
        all.extend(self.query(|conn| saml.get_results(conn))?.into_iter().map(AuditedSubject::Saml));
        let ids = schedules::table.select(schedules::id);
        all.extend(self.query(|conn| ids.get_results(conn))?.into_iter().map(AuditedSubject::Schedule));
        let global = occasions::table.filter(occasions::company_id.is_null()).select(occasions::id);
        all.extend(
            self.query(|conn| global.get_results(conn))?.into_iter().map(AuditedSubject::GlobalOccasion),
        );
        Ok(all)
    }

    /// The next audit entries in order: those in a range of positions that come after the entry `after`.
    pub(super) fn load_audit_entries(
        &mut self,
        range: Range<i64>,
        after: Option<(i64, Id)>,
        limit: i64,
    ) -> Result<Vec<(i64, AuditEntryRow<'static>)>, StoreError> {
        let all = audit_entries::table
            .filter(audit_entries::position.lt(range.end))
            .order((audit_entries::position, audit_entries::id))
            .limit(limit)
            .select((audit_entries::position, AuditEntryRow::as_select()));
        self.query(|conn| match after {
            None => all.filter(audit_entries::position.ge(range.start)).get_results(conn),
            Some((position, id)) => all
                .filter(audit_entries::position.ge(position))
                .filter(audit_entries::position.gt(position).or(audit_entries::id.gt(id)))
                .get_results(conn),
        })
    }
}

fn subject_name(subject: AuditedSubject) -> String {
    match subject {
        AuditedSubject::Provider(id) => format!("provider {}", id.0),
        AuditedSubject::Options(id) => format!("the options of company {}", id.0),
        AuditedSubject::Saml(id) => format!("the single sign-on settings of company {}", id.0),
        AuditedSubject::Schedule(id) => format!("schedule {}", id.0),
        AuditedSubject::GlobalOccasion(id) => format!("global occasion {}", id.0),
    }
}

/// The digest of a state; `None` if its row does not exist.
fn digest_of(found: QueryResult<impl AuditedState>) -> QueryResult<Option<Vec<u8>>> {
    Ok(found.optional()?.map(|state| state.state_digest()))
}
