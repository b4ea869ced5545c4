//! The partitions of `events`, `deliveries` and `attempts`: ranges of the event's id, which increases with time.
//!
//! Partitions are created before ids reach their range, and dropped when all of their events were delivered and are
//! past their retention. The first range, which is created together with the others of a new database, contains
//! everything before them, such as the events of an imported company, and is never dropped. Events outside all ranges
//! are in the default partitions. Events in the first range and in the default partitions are deleted row by row. The
//! three tables have the same ranges, and their partitions the same suffixes.
//!
//! A default partition must stay small: PostgreSQL reads all of it, under an exclusive lock, before it creates another
//! partition.

use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text};
use guerdon_domain::companies::HANDED_OVER_DELIVERY_STATE;
use guerdon_domain::events::EventState;
use guerdon_domain::ports::Timestamp;
use guerdon_domain::values::EventId;
use uuid::Uuid;

use crate::rows::{Id, Identifier, first_id_of_millisecond};

/// The partitioned tables, their key, and the storage parameters of their partitions. Most other transactions lock them
/// in this order, too. A transaction that claims events locks `deliveries` first. It can deadlock with one that locks
/// the whole tables, which then fails after its `lock_timeout`.
const TABLES: [(&str, &str, &str); 3] = [
    ("events", "id", ""),
    ("deliveries", "event_id", " WITH (fillfactor = 70)"),
    ("attempts", "event_id", ""),
];
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// A range spans at least a week, and at most a quarter of a year.
const DAYS_MIN: u32 = 7;
const DAYS_MAX: u32 = 91;
/// A range with an undelivered event stays. If there are more ranges than this, new ones have the maximum length, so
/// that there are few partitions even after ten years: most queries read all of them.
const SHORT_RANGES_MAX: usize = 24;
/// The suffix of the partitions for everything before the database was created.
const EARLIER: &str = "earlier";
/// The maximum number of ranges that one call creates.
const CREATED_MAX: usize = 4;
/// A transaction that waits for the lock of a whole table makes all others wait, so it waits only for a short time. The
/// second limit is for a default partition with many rows, which PostgreSQL reads before it creates another one.
const SET_SHORT_TIMEOUTS: &str = "SET LOCAL lock_timeout = 200; SET LOCAL statement_timeout = 2000";

/// A range of ids, whose partitions have this suffix.
#[derive(Debug, Clone, PartialEq, Eq, QueryableByName)]
struct PartitionRange {
    #[diesel(sql_type = Text)]
    suffix: String,
    #[diesel(sql_type = Identifier)]
    start: Id<EventId>,
    #[diesel(sql_type = Identifier)]
    end: Id<EventId>,
}

impl PartitionRange {
    /// The range of the ids from the start of one day to the start of another.
    fn between_days(start: Timestamp, end: Timestamp) -> Self {
        let date = start.to_utc().date();
        let suffix = format!("{:04}{:02}{:02}", date.year(), u8::from(date.month()), date.day());
        Self { suffix, start: Id(first_id_at(start)), end: Id(first_id_at(end)) }
    }

    /// The range of all ids before another range.
    fn before(first: &Self) -> Self {
        Self { suffix: EARLIER.to_owned(), start: Id(EventId::from_uuid(Uuid::nil())), end: first.start }
    }

    fn expires_as_a_whole(&self) -> bool {
        self.suffix != EARLIER
    }
}

fn first_id_at(at: Timestamp) -> EventId {
    EventId::from_uuid(first_id_of_millisecond(at.unix_micros() / 1_000))
}

fn time_of_id(id: EventId) -> Option<Timestamp> {
    let millis = i64::try_from(id.as_uuid().as_u128() >> 80).ok()?;
    Timestamp::from_unix_micros(millis.checked_mul(1_000)?)
}

fn start_of_day(at: Timestamp) -> Timestamp {
    let day = i64::try_from(DAY.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_unix_micros(at.unix_micros().div_euclid(day) * day).unwrap_or(at)
}

/// The length of new ranges: about a third of the retention period, or the maximum if there are many ranges.
fn range_length(retention: Option<Duration>, range_count: usize) -> Duration {
    let retention = retention.filter(|_| range_count <= SHORT_RANGES_MAX);
    let days = retention.map_or(u64::from(DAYS_MAX), |period| period.as_secs() / DAY.as_secs() / 3);
    DAY * u32::try_from(days).unwrap_or(DAYS_MAX).clamp(DAYS_MIN, DAYS_MAX)
}

/// Returns the existing ranges, ordered by id.
fn load_ranges(conn: &mut PgConnection) -> QueryResult<Vec<PartitionRange>> {
    diesel::sql_query(
        "SELECT substr(name, length('events_') + 1) AS suffix, bounds[1]::uuid AS start, bounds[2]::uuid AS \"end\" FROM (\
           SELECT relname::text AS name, \
             regexp_match(pg_get_expr(relpartbound, oid), 'FROM \\(''([^'']+)''\\) TO \\(''([^'']+)''\\)') AS bounds \
           FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'events'::regclass) AS partitions \
         WHERE bounds IS NOT NULL ORDER BY start",
    )
    .get_results(conn)
}

/// Creates the missing partitions for the ids of the period from now until one range length later. Returns the number
/// of new ranges. If the default partitions already contain rows of a range, it begins on the day after the last of
/// them.
pub(crate) fn create_event_partitions(
    conn: &mut PgConnection,
    now: Timestamp,
    retention: Option<Duration>,
) -> QueryResult<usize> {
    let find_missing = |conn: &mut PgConnection| -> QueryResult<Vec<PartitionRange>> {
        let existing = load_ranges(conn)?;
        let mut missing = missing_ranges(&existing, now, range_length(retention, existing.len()));
        missing.truncate(CREATED_MAX);
        if existing.is_empty() {
            missing.extend(missing.first().map(PartitionRange::before));
        }
        let mut unused = Vec::new();
        for range in missing {
            unused.extend(unused_part(conn, range)?);
        }
        Ok(unused)
    };
    if find_missing(conn)?.is_empty() {
        return Ok(0);
    }
    lock_tables(conn)?;
    let missing = find_missing(conn)?; // another instance may have created them
    missing.iter().try_for_each(|range| create_range(conn, range))?;
    Ok(missing.len())
}

/// Locks the tables against all other transactions.
fn lock_tables(conn: &mut PgConnection) -> QueryResult<()> {
    conn.batch_execute(SET_SHORT_TIMEOUTS)?;
    conn.batch_execute("LOCK TABLE ONLY events, ONLY deliveries, ONLY attempts IN ACCESS EXCLUSIVE MODE")
}

/// The ranges between `now` and `now + length` that have no partitions yet.
fn missing_ranges(existing: &[PartitionRange], now: Timestamp, length: Duration) -> Vec<PartitionRange> {
    let bounds = existing.iter().filter_map(|range| time_of_id(range.start.0).zip(time_of_id(range.end.0)));
    let bounds: Vec<(Timestamp, Timestamp)> = bounds.collect();
    let (mut covered_to, ahead_to) = (now, now + length);
    let mut missing = Vec::new();
    while covered_to < ahead_to {
        if let Some((_, end)) = bounds.iter().find(|(start, end)| (*start..*end).contains(&covered_to)) {
            covered_to = *end;
            continue;
        }
        let before = bounds.iter().map(|(_, end)| *end).filter(|end| *end <= covered_to).max();
        let start = before.map_or(start_of_day(covered_to), |end| end.max(start_of_day(covered_to)));
        let after = bounds.iter().map(|(start, _)| *start).filter(|next| *next > start).min();
        let end = after.map_or(start + length, |next| next.min(start + length));
        missing.push(PartitionRange::between_days(start, end));
        covered_to = end;
    }
    missing
}

/// The part of a range that begins on the day after its last row in the default partitions, because a partition cannot
/// contain rows that are stored elsewhere. `None` if nothing is left, or if the earliest range has such rows.
fn unused_part(conn: &mut PgConnection, range: PartitionRange) -> QueryResult<Option<PartitionRange>> {
    let mut last_id = None;
    for (table, key, _) in TABLES {
        let last =
            sql::<Nullable<Identifier>>(&format!("(SELECT {key} FROM {table}_default WHERE {key} >= "))
                .bind::<Identifier, _>(range.start)
                .sql(&format!(" AND {key} < "))
                .bind::<Identifier, _>(range.end)
                .sql(&format!(" ORDER BY {key} DESC LIMIT 1)"));
        let last: Option<Id<EventId>> = diesel::select(last).get_result(conn)?;
        last_id = last_id.max(last.map(|last| last.0));
    }
    let Some(last_id) = last_id else { return Ok(Some(range)) };
    let start = time_of_id(last_id).map(|at| start_of_day(at) + DAY);
    let rest = start.zip(time_of_id(range.end.0)).filter(|(start, end)| start < end);
    let rest = rest.filter(|_| range.expires_as_a_whole());
    Ok(rest.map(|(start, end)| PartitionRange::between_days(start, end)))
}

fn create_range(conn: &mut PgConnection, range: &PartitionRange) -> QueryResult<()> {
    let PartitionRange { suffix, start, end } = range;
    let statements = TABLES.map(|(table, _, parameters)| {
        format!(
            "CREATE TABLE {table}_{suffix} PARTITION OF {table} FOR VALUES FROM ('{}') TO ('{}'){parameters}",
            start.0, end.0
        )
    });
    statements.iter().try_for_each(|statement| conn.batch_execute(statement))
}

/// Drops the oldest partitions whose ids are all before `end` and whose events were all delivered. Returns false if
/// there are none. The duration does not depend on the number of events.
pub(crate) fn drop_expired_event_partition(conn: &mut PgConnection, end: EventId) -> QueryResult<bool> {
    for range in load_ranges(conn)?.iter().take_while(|range| range.end.0 <= end) {
        if !range.expires_as_a_whole() || has_undelivered(conn, range)? {
            continue;
        }
        lock_tables(conn)?;
        // Before the lock, another instance may have dropped it, or an event may have been replayed.
        if !load_ranges(conn)?.contains(range) || has_undelivered(conn, range)? {
            continue;
        }
        for (table, ..) in TABLES {
            conn.batch_execute(&format!("DROP TABLE {table}_{}", range.suffix))?;
        }
        return Ok(true);
    }
    Ok(false)
}

/// Whether the range has an event in a state other than delivered. Each of these states has a partial index.
fn has_undelivered(conn: &mut PgConnection, range: &PartitionRange) -> QueryResult<bool> {
    let in_state =
        |state: i16| format!("EXISTS (SELECT FROM deliveries_{} WHERE state = {state})", range.suffix);
    let states = [EventState::Pending, EventState::Exhausted, EventState::Unaddressed].map(EventState::code);
    let all: Vec<String> = states.into_iter().chain([HANDED_OVER_DELIVERY_STATE]).map(in_state).collect();
    let any = all.join(" OR ");
    diesel::select(sql::<Bool>(&any)).get_result(conn)
}

/// The id before which expired events are deleted row by row. This is the start of the range that contains `end`,
/// because that range is dropped as a whole later, or `end` itself if no range contains it.
pub(crate) fn end_of_row_deletion(conn: &mut PgConnection, end: EventId) -> QueryResult<EventId> {
    let ranges = load_ranges(conn)?;
    let mut expiring = ranges.iter().filter(|range| range.expires_as_a_whole());
    let containing = expiring.find(|range| (range.start.0..range.end.0).contains(&end));
    Ok(containing.map_or(end, |range| range.start.0))
}

/// Prevents partitions from being dropped until the transaction ends. Call it before the transaction's first query,
/// if the transaction reads events and the time before which they may have been deleted.
pub(crate) fn keep_event_partitions(conn: &mut PgConnection) -> QueryResult<()> {
    conn.batch_execute("LOCK TABLE ONLY events IN ACCESS SHARE MODE")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_600_000_000_000;

    fn days_from_now(days: u32) -> Timestamp {
        Timestamp::from_unix_micros(NOW).unwrap() + DAY * days
    }

    fn range_of_days(start: u32, end: u32) -> PartitionRange {
        PartitionRange::between_days(start_of_day(days_from_now(start)), start_of_day(days_from_now(end)))
    }

    #[test]
    fn ranges_have_about_a_third_of_the_retention_period() {
        let days = |retention: Option<u32>, range_count| {
            range_length(retention.map(|days| DAY * days), range_count).as_secs() / DAY.as_secs()
        };
        let retentions = [Some(1), Some(30), Some(90), Some(3_650), None];
        assert_eq!(retentions.map(|retention| days(retention, 0)), [7, 10, 30, 91, 91]);
        assert_eq!(days(Some(30), SHORT_RANGES_MAX), 10);
        assert_eq!(days(Some(30), SHORT_RANGES_MAX + 1), 91);
    }

    #[test]
    fn few_ranges_exist_after_ten_years_in_which_none_could_be_dropped() {
        let mut ranges: Vec<PartitionRange> = Vec::new();
        for day in 0..3_650 {
            let length = range_length(Some(DAY * 30), ranges.len());
            ranges.extend(missing_ranges(&ranges, days_from_now(day), length));
        }
        assert!(ranges.len() <= 65, "{}", ranges.len());
    }

    #[test]
    fn an_id_has_the_time_of_its_range() {
        let day = start_of_day(days_from_now(0));
        assert_eq!(time_of_id(first_id_at(day)), Some(day));
        assert!(first_id_at(days_from_now(0)) > first_id_at(day));
    }

    #[test]
    fn ranges_are_created_without_gaps_from_today_to_one_length_ahead() {
        let missing = |existing: &[PartitionRange]| missing_ranges(existing, days_from_now(0), DAY * 10);
        assert_eq!(missing(&[]), [range_of_days(0, 10), range_of_days(10, 20)]);
        assert_eq!(missing(&[range_of_days(0, 10)]), [range_of_days(10, 20)]);
        assert_eq!(missing(&[range_of_days(0, 10), range_of_days(10, 20)]), []);
    }

    #[test]
    fn a_gap_after_a_pause_stays_and_one_before_a_later_range_is_closed() {
        let missing = |existing: &[PartitionRange]| missing_ranges(existing, days_from_now(30), DAY * 10);
        assert_eq!(missing(&[range_of_days(0, 10)]), [range_of_days(30, 40), range_of_days(40, 50)]);
        let jumped = [range_of_days(0, 31), range_of_days(35, 45), range_of_days(1_000, 1_010)];
        assert_eq!(missing(&jumped), [range_of_days(31, 35)]);
    }
}
