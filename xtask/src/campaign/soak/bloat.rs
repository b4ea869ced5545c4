//! The space of a PostgreSQL database that rebuilding its tables and indexes would free.

use anyhow::{Context as _, Result};

use super::samples::mebibytes;
use crate::campaign::report::Measurement;
use crate::campaign::sql::SqlClient;

/// Tables and indexes may occupy this many times their size after a rebuild.
const TABLES_MAX: f64 = 1.5;
const INDEXES_MAX: f64 = 2.0;
/// A table is named in the results if a rebuild of it or of its indexes frees at least this much.
const REPORTED_SAVING_MIB_MIN: f64 = 1.0;

const SIZES: &str = "SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class \
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY relname";
const VACUUMS: &str =
    "SELECT coalesce(sum(autovacuum_count), 0), coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables";

struct Sizes {
    table: String,
    table_mib: f64,
    indexes_mib: f64,
}

/// Rebuilds all tables and indexes, and compares their sizes before and after.
pub(super) fn measure_bloat(sql: &SqlClient) -> Result<Vec<Measurement>> {
    let vacuums = sql.run_sql(VACUUMS)?;
    let (vacuums, dead_rows) = vacuums.trim().split_once('|').context("two columns")?;
    let before = read_sizes(sql)?;
    sql.run_sql("VACUUM FULL")?;
    let after = read_sizes(sql)?;
    let mut measurements = vec![
        Measurement::without_bound("autovacuums of tables", vacuums),
        Measurement::without_bound("dead rows at the end", dead_rows),
    ];
    type Size = fn(&Sizes) -> f64;
    let kinds: [(&str, Size, f64); 2] = [
        ("tables", |sizes| sizes.table_mib, TABLES_MAX),
        ("indexes", |sizes| sizes.indexes_mib, INDEXES_MAX),
    ];
    for (kind, size, ratio_max) in kinds {
        let total = |all: &[Sizes]| all.iter().map(size).sum::<f64>();
        let (used, rebuilt) = (total(&before), total(&after));
        measurements.push(Measurement::without_bound(
            format!("{kind} before and after a rebuild"),
            format!("{used:.1} and {rebuilt:.1} MiB"),
        ));
        measurements.push(Measurement::at_most("  ratio", used / rebuilt.max(0.1), ratio_max, ""));
        for (before, after) in before.iter().zip(&after) {
            if size(before) - size(after) >= REPORTED_SAVING_MIB_MIN {
                let sizes = format!("{:.1} and {:.1} MiB", size(before), size(after));
                measurements.push(Measurement::without_bound(format!("  {}", before.table), sizes));
            }
        }
    }
    Ok(measurements)
}

fn read_sizes(sql: &SqlClient) -> Result<Vec<Sizes>> {
    let parse_line = |line: &str| {
        let [table, table_size, indexes_size] = line.split('|').collect::<Vec<_>>()[..] else {
            anyhow::bail!("unexpected row: {line}");
        };
        Ok(Sizes {
            table: table.to_owned(),
            table_mib: mebibytes(table_size.parse()?),
            indexes_mib: mebibytes(indexes_size.parse()?),
        })
    };
    sql.run_sql(SIZES)?.lines().map(parse_line).collect()
}
