//! The rows of a company, copied whole from one database to another. The statements are generated from the lists of
//! columns in `schema`.

use diesel::deserialize::{self, FromSql, QueryableByName};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::query_builder::{BoxedSqlQuery, SqlQuery};
use diesel::row::{Field as _, NamedRow, Row};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, SmallInt, Text};
use guerdon_domain::audit::Findings;
use guerdon_domain::ports::{
    ArchivePage, ArchiveSection, ArchivedColumn, ArchivedRow, ArchivedValue, CompanyArchive, EventBodies,
    ReadCompanyArchive, StoreError, Timestamp,
};
use guerdon_domain::values::{CompanyId, checked_cast};

use super::{BOUND_VALUES_MAX, BY_POSITION_HINT, Db, HAS_FEED_INDEX, Unit, placeholder, row_placeholders};
use crate::rows::archive::{self, SectionSource};
use crate::rows::stored_columns::{SqlKind, StoredColumn};
use crate::rows::{DbTimestamp, Id, Identifier, SqlTimestamp};

/// The maximum number of rows of one statement.
const ROWS_PER_STATEMENT: usize = 500;

type DynamicQuery<'q> = BoxedSqlQuery<'q, Db, SqlQuery>;

/// A row with arbitrary columns. The first letter of a column's alias identifies its kind.
struct DynamicRow(ArchivedRow);

impl QueryableByName<Db> for DynamicRow {
    fn build<'a>(row: &impl NamedRow<'a, Db>) -> deserialize::Result<Self> {
        let mut values = Vec::with_capacity(row.field_count());
        for index in 0..row.field_count() {
            let field = Row::get(row, index).ok_or("a column is missing")?;
            let kind = field.field_name().and_then(archive::kind_of_alias);
            let kind = kind.ok_or("a column has no kind")?;
            values.push(match field.value() {
                None => ArchivedValue::Null,
                Some(value) => match kind {
                    SqlKind::Bool => ArchivedValue::Bool(<bool as FromSql<Bool, Db>>::from_sql(value)?),
                    SqlKind::SmallInt => {
                        ArchivedValue::Integer(<i16 as FromSql<SmallInt, Db>>::from_sql(value)?.into())
                    }
                    SqlKind::Integer => {
                        ArchivedValue::Integer(<i32 as FromSql<Integer, Db>>::from_sql(value)?.into())
                    }
                    SqlKind::BigInt => ArchivedValue::Integer(<i64 as FromSql<BigInt, Db>>::from_sql(value)?),
                    SqlKind::Text => ArchivedValue::Text(<String as FromSql<Text, Db>>::from_sql(value)?),
                    SqlKind::Binary => {
                        ArchivedValue::Bytes(<Vec<u8> as FromSql<Binary, Db>>::from_sql(value)?)
                    }
                    SqlKind::Identifier => {
                        ArchivedValue::Id(<Id as FromSql<Identifier, Db>>::from_sql(value)?.0)
                    }
                    SqlKind::Timestamp => {
                        ArchivedValue::Time(<DbTimestamp as FromSql<SqlTimestamp, Db>>::from_sql(value)?.0)
                    }
                },
            });
        }
        Ok(Self(values))
    }
}

/// Binds a value to a column of this kind. Fails if the value does not fit.
fn bind_value<'q>(
    query: DynamicQuery<'q>,
    kind: SqlKind,
    value: &ArchivedValue,
) -> Result<DynamicQuery<'q>, StoreError> {
    let misfit = || StoreError::Broken(format!("{value:?} does not fit a column of the kind {kind:?}"));
    Ok(match (kind, value) {
        (SqlKind::Bool, ArchivedValue::Null) => query.bind::<Nullable<Bool>, _>(None::<bool>),
        (SqlKind::Bool, ArchivedValue::Bool(value)) => query.bind::<Bool, _>(*value),
        (SqlKind::SmallInt, ArchivedValue::Null) => query.bind::<Nullable<SmallInt>, _>(None::<i16>),
        (SqlKind::SmallInt, ArchivedValue::Integer(value)) => {
            query.bind::<SmallInt, _>(i16::try_from(*value).map_err(|_range| misfit())?)
        }
        (SqlKind::Integer, ArchivedValue::Null) => query.bind::<Nullable<Integer>, _>(None::<i32>),
        (SqlKind::Integer, ArchivedValue::Integer(value)) => {
            query.bind::<Integer, _>(i32::try_from(*value).map_err(|_range| misfit())?)
        }
        (SqlKind::BigInt, ArchivedValue::Null) => query.bind::<Nullable<BigInt>, _>(None::<i64>),
        (SqlKind::BigInt, ArchivedValue::Integer(value)) => query.bind::<BigInt, _>(*value),
        (SqlKind::Text, ArchivedValue::Null) => query.bind::<Nullable<Text>, _>(None::<String>),
        (SqlKind::Text, ArchivedValue::Text(value)) => query.bind::<Text, _>(value.clone()),
        (SqlKind::Binary, ArchivedValue::Null) => query.bind::<Nullable<Binary>, _>(None::<Vec<u8>>),
        (SqlKind::Binary, ArchivedValue::Bytes(value)) => query.bind::<Binary, _>(value.clone()),
        (SqlKind::Identifier, ArchivedValue::Null) => query.bind::<Nullable<Identifier>, _>(None::<Id>),
        (SqlKind::Identifier, ArchivedValue::Id(value)) => query.bind::<Identifier, _>(Id(*value)),
        (SqlKind::Timestamp, ArchivedValue::Null) => {
            query.bind::<Nullable<SqlTimestamp>, _>(None::<DbTimestamp>)
        }
        (SqlKind::Timestamp, ArchivedValue::Time(value)) => {
            query.bind::<SqlTimestamp, _>(DbTimestamp(*value))
        }
        _ => return Err(misfit()),
    })
}

/// The statement that reads a page. It binds the company, then the time, then the key, then the limit.
fn page_query(section: ArchiveSection, source: &SectionSource, is_first: bool) -> String {
    let aliased = |(index, (expression, kind)): (usize, (String, SqlKind))| {
        format!("{expression} AS {}{index}", archive::letter_of_kind(kind))
    };
    let key = source.key.iter().map(|(expression, kind)| ((*expression).to_owned(), *kind));
    let columns = archive::columns(section).map(|column| (format!("t.{}", column.name), column.kind));
    let selected: Vec<String> = key.chain(columns).enumerate().map(aliased).collect();
    let condition = source.condition.replace("{company}", &placeholder(1)).replace("{now}", &placeholder(2));
    let expressions: Vec<&str> = source.key.iter().map(|(expression, _)| *expression).collect();
    let order = expressions.join(", ");
    let after = if is_first { String::new() } else { after_condition(source, &expressions) };
    let limit = placeholder(if is_first { 3 } else { 3 + checked_cast::<u16, _>(source.key.len()) });
    format!(
        "SELECT {} FROM {} WHERE ({condition}) AND {} IS NOT NULL{after} ORDER BY {order} LIMIT {limit}",
        selected.join(", "),
        source.from.replace("{by_position}", BY_POSITION_HINT),
        placeholder(2),
    )
}

/// The condition that a row comes after a key.
fn after_condition(source: &SectionSource, expressions: &[&str]) -> String {
    let bound: Vec<String> = (3..).take(expressions.len()).map(placeholder).collect();
    match (expressions.split_last(), bound.split_last()) {
        (Some((last, first)), Some((last_bound, first_bound))) if source.splits_key => {
            let (first, first_bound) = (first.join(", "), first_bound.join(", "));
            format!(
                " AND ({first}) >= ({first_bound}) AND (({first}) > ({first_bound}) OR {last} > {last_bound})"
            )
        }
        _ => format!(" AND ({}) > ({})", expressions.join(", "), bound.join(", ")),
    }
}

impl ReadCompanyArchive for Unit<'_> {
    fn archived_columns(&self, section: ArchiveSection) -> Vec<ArchivedColumn> {
        archive::columns(section).map(archive::to_archived_column).collect()
    }

    fn read_archive_page(
        &mut self,
        company: CompanyId,
        section: ArchiveSection,
        after: Option<&ArchivedRow>,
        rows_max: i64,
        now: Timestamp,
    ) -> Result<ArchivePage, StoreError> {
        self.query(super::disable_statement_timeout)?;
        let source = archive::source(section, HAS_FEED_INDEX);
        let mut query = diesel::sql_query(page_query(section, &source, after.is_none()))
            .into_boxed::<Db>()
            .bind::<Identifier, _>(Id(company))
            .bind::<SqlTimestamp, _>(DbTimestamp(now));
        for ((_, kind), value) in source.key.iter().zip(after.into_iter().flatten()) {
            let bound = bind_value(query, *kind, value);
            query = self.record_failure(bound)?;
        }
        let query = query.bind::<BigInt, _>(rows_max);
        let found: Vec<DynamicRow> = self.query(|conn| query.get_results(conn))?;
        let is_last = i64::try_from(found.len()).is_ok_and(|count| count < rows_max);
        let split_key = |DynamicRow(mut key): DynamicRow| {
            let row = key.split_off(source.key.len().min(key.len()));
            (key, row)
        };
        let (mut keys, rows): (Vec<ArchivedRow>, Vec<ArchivedRow>) = found.into_iter().map(split_key).unzip();
        Ok(ArchivePage { rows, next: keys.pop().filter(|_| !is_last) })
    }

    fn estimate_archived_rows(&mut self, company: CompanyId) -> Result<i64, StoreError> {
        self.query(super::disable_statement_timeout)?;
        self.query(super::keep_event_partitions)?;
        let count = sql::<BigInt>("(SELECT count(*) FROM users WHERE company_id = ")
            .bind::<Identifier, _>(Id(company))
            .sql(") + (SELECT count(*) FROM journal_entries WHERE company_id = ")
            .bind::<Identifier, _>(Id(company))
            .sql(") + CAST((SELECT COALESCE(sum(entry_count), 0) / 2 FROM accounts WHERE company_id = ")
            .bind::<Identifier, _>(Id(company))
            .sql(") AS bigint)");
        self.query(|conn| diesel::select(count).get_result(conn))
    }

    fn audit_company(
        &mut self,
        company: CompanyId,
        bodies: &dyn EventBodies,
    ) -> Result<Findings, StoreError> {
        self.query(super::disable_statement_timeout)?;
        self.audit_journal_and_accounts_of(company, bodies)
    }
}

impl CompanyArchive for Unit<'_> {
    fn insert_archived_rows(
        &mut self,
        section: ArchiveSection,
        rows: &[ArchivedRow],
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let columns: Vec<&StoredColumn> = archive::columns(section).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        self.queued.events |= section == ArchiveSection::Deliveries;
        let replaces_expired = section == ArchiveSection::IdempotencyRecords;
        let mut inserted = 0;
        let positioned_columns = columns.len() + 1;
        for slice in rows.chunks(ROWS_PER_STATEMENT.min(BOUND_VALUES_MAX / positioned_columns)) {
            let positions = self.positions_of_archived_rows(section, &columns, slice)?;
            let position = if positions.is_some() { ", position" } else { "" };
            let width = columns.len() + usize::from(positions.is_some());
            let conflict = conflict_clause(section, &names, slice.len() * width);
            let statement = format!(
                "INSERT INTO {} ({}{position}) VALUES {}{conflict}",
                section.name(),
                names.join(", "),
                row_placeholders(slice.len(), width)
            );
            let mut query = diesel::sql_query(statement).into_boxed::<Db>();
            for (index, row) in slice.iter().enumerate() {
                let bound = bind_row(query, section, &columns, row);
                query = self.record_failure(bound)?;
                if let Some(position) = positions.as_ref().and_then(|positions| positions.get(index)) {
                    query = query.bind::<BigInt, _>(*position);
                }
            }
            if replaces_expired {
                query = query.bind::<SqlTimestamp, _>(DbTimestamp(now));
            }
            inserted += self.query(|conn| query.execute(conn))?;
        }
        Ok(inserted)
    }
}

/// What the statement does with a row that already exists, other than to fail. An idempotency record replaces one that
/// has expired; the clause then has a placeholder for the time, which follows `bound_values` others.
fn conflict_clause(section: ArchiveSection, columns: &[&str], bound_values: usize) -> String {
    match section {
        ArchiveSection::Providers | ArchiveSection::Occasions => " ON CONFLICT DO NOTHING".to_owned(),
        ArchiveSection::IdempotencyRecords => {
            let replaced = columns.iter().filter(|column| !["scope", "idempotency_key"].contains(column));
            let assignments: Vec<String> =
                replaced.map(|column| format!("{column} = excluded.{column}")).collect();
            format!(
                " ON CONFLICT (scope, idempotency_key) DO UPDATE SET {} WHERE idempotency_records.expires_at <= {}",
                assignments.join(", "),
                placeholder(1 + checked_cast::<u16, _>(bound_values))
            )
        }
        _ => String::new(),
    }
}

fn bind_row<'q>(
    mut query: DynamicQuery<'q>,
    section: ArchiveSection,
    columns: &[&StoredColumn],
    row: &ArchivedRow,
) -> Result<DynamicQuery<'q>, StoreError> {
    if row.len() != columns.len() {
        return Err(StoreError::Broken(format!("a row of {} has {} values", section.name(), row.len())));
    }
    for (column, value) in columns.iter().zip(row) {
        query = bind_value(query, column.kind, value)?;
    }
    Ok(query)
}
