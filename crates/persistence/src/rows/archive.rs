//! The sources of the sections of a company archive.

use guerdon_domain::ports::{ArchiveSection, ArchivedColumn, ArchivedType};

use super::schema::TABLES;
use super::stored_columns::{SqlKind, StoredColumn};

/// Columns that are local to a database: positions in its journal, leases of its processes, and the time when it handed
/// a company over.
const LOCAL_COLUMNS: [&str; 3] = ["position", "lease_id", "handed_over_at"];

/// The source of a section's rows. Its SQL refers to the section's table as `t`.
pub(crate) struct SectionSource {
    /// The tables. `{by_position}` makes SQLite read a table in the order of its positions: without statistics, it
    /// would read and sort all rows of the company for each page.
    pub(crate) from: &'static str,
    /// The condition, with the placeholders `{company}` and `{now}`.
    pub(crate) condition: &'static str,
    /// The expressions that order and identify the rows.
    pub(crate) key: &'static [(&'static str, SqlKind)],
    /// Whether the last part of the key is compared separately from the other parts, which select a range of an index.
    pub(crate) splits_key: bool,
}

const OF_COMPANY: &str = "t.company_id = {company}";
const BY_ID: &[(&str, SqlKind)] = &[("t.id", SqlKind::Identifier)];
const BY_POSITION: &[(&str, SqlKind)] = &[("t.position", SqlKind::BigInt), ("t.id", SqlKind::Identifier)];
/// The key of transfers and recognitions. The journal entries are read through the index over company and id.
const BY_ENTRY_AND_LEG: &[(&str, SqlKind)] = &[("j.id", SqlKind::Identifier), ("t.leg", SqlKind::Integer)];
const PROVIDER_OF_COMPANY: &str = "t.id = (SELECT provider_id FROM companies WHERE id = {company})";
const OWN_OR_USED_OCCASION: &str = "t.company_id = {company} OR (t.company_id IS NULL AND EXISTS \
    (SELECT 1 FROM journal_entries AS j WHERE j.company_id = {company} AND j.occasion_id = t.id))";

/// `has_feed_index` is whether an index contains the whole order of a provider's events: position and id. Otherwise, a
/// position identifies an event.
pub(crate) fn source(section: ArchiveSection, has_feed_index: bool) -> SectionSource {
    let source = |from, condition, key| SectionSource { from, condition, key, splits_key: false };
    let of_company = |from, key| source(from, OF_COMPANY, key);
    let of_entry = |from| SectionSource { splits_key: true, ..source(from, OF_ENTRY, BY_ENTRY_AND_LEG) };
    match section {
        ArchiveSection::Providers => source("providers AS t", PROVIDER_OF_COMPANY, BY_ID),
        ArchiveSection::Companies => source("companies AS t", "t.id = {company}", BY_ID),
        ArchiveSection::Occasions => source("occasions AS t", OWN_OR_USED_OCCASION, BY_ID),
        ArchiveSection::Users => of_company("users AS t", BY_CREATION),
        ArchiveSection::SamlSettings => of_company("saml_settings AS t", BY_COMPANY),
        ArchiveSection::Schedules => of_company("schedules AS t", BY_ID),
        ArchiveSection::SkippedDates => of_company("skipped_dates AS t", BY_SCHEDULE_AND_DATE),
        ArchiveSection::Accounts => of_company("accounts AS t", BY_OWNER_AND_KIND),
        ArchiveSection::JournalEntries => of_company("journal_entries AS t{by_position}", BY_POSITION),
        ArchiveSection::Transfers => {
            of_entry("journal_entries AS j JOIN transfers AS t ON t.journal_entry_id = j.id")
        }
        ArchiveSection::Recognitions => {
            of_entry("journal_entries AS j JOIN recognitions AS t ON t.journal_entry_id = j.id")
        }
        ArchiveSection::Events if has_feed_index => {
            SectionSource { splits_key: true, ..of_company("events AS t", BY_FEED) }
        }
        ArchiveSection::Events => of_company("events AS t{by_position}", BY_POSITION),
        ArchiveSection::Deliveries => of_company("deliveries AS t", BY_EVENT),
        ArchiveSection::Attempts => of_company("attempts AS t", BY_EVENT_AND_ID),
        ArchiveSection::IdempotencyRecords => {
            source("idempotency_records AS t", UNEXPIRED_OF_COMPANY, BY_SCOPE_AND_KEY)
        }
        ArchiveSection::AuditEntries => of_company("audit_entries AS t{by_position}", BY_POSITION),
    }
}

const OF_ENTRY: &str = "j.company_id = {company}";
const BY_CREATION: &[(&str, SqlKind)] =
    &[("t.created_at", SqlKind::Timestamp), ("t.id", SqlKind::Identifier)];
const BY_COMPANY: &[(&str, SqlKind)] = &[("t.company_id", SqlKind::Identifier)];
const BY_SCHEDULE_AND_DATE: &[(&str, SqlKind)] =
    &[("t.schedule_id", SqlKind::Identifier), ("t.due_on", SqlKind::Text)];
const BY_OWNER_AND_KIND: &[(&str, SqlKind)] =
    &[("t.owner_id", SqlKind::Identifier), ("t.kind", SqlKind::SmallInt)];
const BY_FEED: &[(&str, SqlKind)] =
    &[("t.provider_id", SqlKind::Identifier), ("t.position", SqlKind::BigInt), ("t.id", SqlKind::Identifier)];
const BY_EVENT: &[(&str, SqlKind)] = &[("t.event_id", SqlKind::Identifier)];
const BY_EVENT_AND_ID: &[(&str, SqlKind)] =
    &[("t.event_id", SqlKind::Identifier), ("t.id", SqlKind::Identifier)];
const BY_SCOPE_AND_KEY: &[(&str, SqlKind)] =
    &[("t.scope", SqlKind::Identifier), ("t.idempotency_key", SqlKind::Text)];

/// Selects the unexpired records of requests that concerned the company, from any scope.
const UNEXPIRED_OF_COMPANY: &str = "t.company_id = {company} AND t.expires_at > {now}";

/// The archived columns of a section.
pub(crate) fn columns(section: ArchiveSection) -> impl Iterator<Item = &'static StoredColumn> {
    let table = TABLES.iter().find(|(name, _)| *name == section.name());
    let all = table.map(|(_, columns)| *columns).unwrap_or_default();
    all.iter().filter(|column| !LOCAL_COLUMNS.contains(&column.name))
}

pub(crate) fn to_archived_column(column: &StoredColumn) -> ArchivedColumn {
    let value_type = match column.kind {
        SqlKind::Bool => ArchivedType::Bool,
        SqlKind::SmallInt | SqlKind::Integer | SqlKind::BigInt => ArchivedType::Integer,
        SqlKind::Text => ArchivedType::Text,
        SqlKind::Binary => ArchivedType::Bytes,
        SqlKind::Identifier => ArchivedType::Id,
        SqlKind::Timestamp => ArchivedType::Time,
    };
    ArchivedColumn { name: column.name, value_type, is_nullable: column.is_nullable }
}

const KIND_LETTERS: [(SqlKind, char); 8] = [
    (SqlKind::Bool, 'b'),
    (SqlKind::SmallInt, 's'),
    (SqlKind::Integer, 'i'),
    (SqlKind::BigInt, 'l'),
    (SqlKind::Text, 't'),
    (SqlKind::Binary, 'y'),
    (SqlKind::Identifier, 'u'),
    (SqlKind::Timestamp, 'm'),
];

/// The first letter of the alias of a column of this kind.
pub(crate) fn letter_of_kind(kind: SqlKind) -> char {
    KIND_LETTERS.iter().find(|(other, _)| *other == kind).map_or('?', |(_, letter)| *letter)
}

/// The kind of the column with this alias.
pub(crate) fn kind_of_alias(alias: &str) -> Option<SqlKind> {
    let first = alias.chars().next()?;
    KIND_LETTERS.iter().find(|(_, letter)| *letter == first).map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables with a column `company_id` that an archive does not contain, each with the reason.
    const EXCLUDED: [(&str, &str); 5] = [
        ("active_users", "triggers maintain it when the users are inserted"),
        ("company_moves", "a move is recorded by each cell"),
        ("notifications", "emails that wait are sent by the cell that wrote them"),
        ("company_statistics", "the target computes it when it seals the imported journal entries"),
        ("occasion_statistics", "the target computes it when it seals the imported journal entries"),
    ];

    #[test]
    fn every_table_of_a_company_is_archived_or_excluded_for_a_reason() {
        for (table, columns) in TABLES {
            let is_archived = ArchiveSection::from_name(table).is_some();
            let is_excluded = EXCLUDED.iter().any(|(name, _)| name == table);
            assert!(!(is_archived && is_excluded), "{table} is both archived and excluded");
            if columns.iter().any(|column| column.name == "company_id") {
                assert!(is_archived || is_excluded, "{table} has a company_id: archive it, or give a reason");
            }
        }
        for section in ArchiveSection::ALL {
            assert!(columns(*section).count() > 0, "{} is no table", section.name());
        }
    }
}
