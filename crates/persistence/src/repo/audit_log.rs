//! The audit log: audit entries, and the journal entries that are listed with them. Ids increase with time,
//! so the newest come last.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::audit_log::AuditEntry;
use guerdon_domain::journal::{Actor, JournalEntry};
use guerdon_domain::ports::{AuditLog, AuditLogQuery, ReadAuditLog, StoreError};

use super::Unit;
use super::events::first_id_since;
use crate::rows::conditions::{IS_NOT_BY_PROVIDER, IS_NOT_RECOGNITION};
use crate::rows::schema::{audit_entries, journal_entries};
use crate::rows::{AuditEntryRow, DbTimestamp, Id, JournalEntryRow, kind};

/// The rows of a table that match, newest first.
macro_rules! wanted {
    ($table:ident, $row:ty, $wanted:expr) => {{
        let wanted: &AuditLogQuery = $wanted;
        let mut all = $table::table.select(<$row>::as_select()).into_boxed();
        if let Some(company) = wanted.company {
            all = all.filter($table::company_id.eq(Id(company)));
        }
        if let Some(provider) = wanted.provider {
            all = all.filter($table::provider_id.eq(Id(provider)));
        }
        if let Some(since) = wanted.since {
            all = all.filter(
                $table::id.ge(Id(first_id_since(since))).and($table::created_at.ge(DbTimestamp(since))),
            );
        }
        if let Some(before) = wanted.before {
            all = all.filter($table::id.lt(Id(before)));
        }
        all.order($table::id.desc()).limit(wanted.limit)
    }};
}

impl ReadAuditLog for Unit<'_> {
    fn list_audit_entries(&mut self, wanted: &AuditLogQuery) -> Result<Vec<AuditEntry>, StoreError> {
        let mut query = wanted!(audit_entries, AuditEntryRow<'static>, wanted);
        if let Some(action) = wanted.action {
            query = query.filter(audit_entries::action.eq(action.code()));
        }
        if let Some(actor) = wanted.actor {
            query = query.filter(audit_entries::actor.eq(actor.code()));
        }
        self.list(AuditEntryRow::into_audit_entry, |conn| query.get_results(conn))
    }

    fn list_journal_entries(&mut self, wanted: &AuditLogQuery) -> Result<Vec<JournalEntry>, StoreError> {
        self.query(super::disable_statement_timeout)?; // the entries of one provider may be far apart
        let mut query = wanted!(journal_entries, JournalEntryRow<'static>, wanted);
        if let Some(action) = wanted.action {
            let Some(kind) = kind::from_action(action) else { return Ok(Vec::new()) };
            query = query.filter(sql::<Bool>(&format!("kind = {kind}")));
            if kind != kind::RECOGNITION {
                query = query.filter(sql::<Bool>(IS_NOT_RECOGNITION));
            }
        }
        if wanted.without_recognitions {
            query = query.filter(sql::<Bool>(IS_NOT_RECOGNITION));
        }
        if let Some(actor) = wanted.actor {
            query = query.filter(sql::<Bool>(&format!("actor = {}", actor.code())));
            if actor != Actor::Provider {
                query = query.filter(sql::<Bool>(IS_NOT_BY_PROVIDER));
            }
        }
        let convert = |row: JournalEntryRow<'static>| row.to_journal_entry();
        self.list(convert, |conn| query.get_results(conn))
    }
}

impl AuditLog for Unit<'_> {
    fn record_audit_entry(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        let mut row = AuditEntryRow::from_entry(entry);
        if let Some(subject) = row.state_subject() {
            row.state_digest = self.load_state_digest(subject)?;
        }
        self.execute(|conn| diesel::insert_into(audit_entries::table).values(&row).execute(conn))
    }
}
