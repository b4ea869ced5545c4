//! The rows of a company in the form in which an archive carries them to another cell. Each section has the rows of one
//! table. Positions and leases are meaningful only in one database, so they are not archived.

use uuid::Uuid;

use super::{EventBodies, StoreError, Timestamp};
use crate::model::Findings;
use crate::values::{CompanyId, stored_enum};

stored_enum! {
    /// The sections of an archive. Each has the name of its table, and its rows refer only to earlier sections.
    enum ArchiveSection {
        /// The provider of the company.
        Providers => 1, "providers";
        /// The company itself.
        Companies => 2, "companies";
        /// The company's occasions, and the global occasions of its recognitions.
        Occasions => 3, "occasions";
        Users => 4, "users";
        SamlSettings => 5, "saml_settings";
        Schedules => 6, "schedules";
        SkippedDates => 7, "skipped_dates";
        Accounts => 8, "accounts";
        JournalEntries => 9, "journal_entries";
        Transfers => 10, "transfers";
        Recognitions => 11, "recognitions";
        Events => 12, "events";
        Deliveries => 13, "deliveries";
        Attempts => 14, "attempts";
        /// The unexpired stored responses to requests that concerned the company.
        IdempotencyRecords => 15, "idempotency_records";
        AuditEntries => 16, "audit_entries";
    }
}

/// The type of an archived column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchivedType {
    Bool,
    Integer,
    Text,
    Bytes,
    Id,
    Time,
}

/// A column of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchivedColumn {
    pub name: &'static str,
    pub value_type: ArchivedType,
    pub is_nullable: bool,
}

/// A value of an archived row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchivedValue {
    Null,
    Bool(bool),
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
    Id(Uuid),
    Time(Timestamp),
}

/// The values of a row, in the order of the section's columns.
pub type ArchivedRow = Vec<ArchivedValue>;

/// A page of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivePage {
    pub rows: Vec<ArchivedRow>,
    /// The key of the last row, after which the next page starts; `None` after the last page.
    pub next: Option<ArchivedRow>,
}

/// Reads the rows of a company.
pub trait ReadCompanyArchive {
    /// The columns of a section.
    fn archived_columns(&self, section: ArchiveSection) -> Vec<ArchivedColumn>;

    /// The rows of a section that come after a key, at most `rows_max` of them, in a fixed order. Journal entries,
    /// events and audit entries are in the order of their positions. Idempotency records that have expired at `now`
    /// are omitted.
    fn read_archive_page(
        &mut self,
        company: CompanyId,
        section: ArchiveSection,
        after: Option<&ArchivedRow>,
        rows_max: i64,
        now: Timestamp,
    ) -> Result<ArchivePage, StoreError>;

    /// Estimates the number of users, journal entries and transfers of the company. If this is the first call in a
    /// snapshot, it also prevents events from being deleted until the snapshot ends.
    fn estimate_archived_rows(&mut self, company: CompanyId) -> Result<i64, StoreError>;

    /// Recomputes the journal and the accounts of one company, as an audit of the whole ledger does.
    fn audit_company(&mut self, company: CompanyId, bodies: &dyn EventBodies)
    -> Result<Findings, StoreError>;
}

/// Writes the rows of a company.
pub trait CompanyArchive: ReadCompanyArchive {
    /// Inserts rows of a section, in their order. Providers, occasions and idempotency records that already exist are
    /// skipped, except that idempotency records which have expired at `now` are replaced. Returns the number of
    /// inserted and replaced rows.
    fn insert_archived_rows(
        &mut self,
        section: ArchiveSection,
        rows: &[ArchivedRow],
        now: Timestamp,
    ) -> Result<usize, StoreError>;
}
