//! Samples of what a service uses, and whether it grows.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::campaign::report::Measurement;
use crate::campaign::sql::SqlClient;
use crate::campaign::subject::Subject;
use crate::measurement::percentiles::Percentiles;

/// Memory may grow by this share of its mean during the campaign, or by this size.
const MEMORY_GROWTH_SHARE_MAX: f64 = 0.1;
const MEMORY_GROWTH_MIB_MAX: f64 = 16.0;
/// Idle connections to the database and to the receiver come and go.
const DESCRIPTOR_GROWTH_MAX: f64 = 8.0;
/// SQLite's log restarts as soon as possible above 256 MiB (docs/operating.md).
const SQLITE_LOG_MIB_MAX: f64 = 512.0;
/// PostgreSQL's log may exceed its `max_wal_size`, which is 4 GiB here, during a checkpoint.
const POSTGRES_LOG_MIB_MAX: f64 = 6_144.0;
const P99_GROWTH_MAX: f64 = 1.5;
/// A p99 below this always passes: threads wait this long for a processor on a busy machine.
const ACCEPTED_P99_MILLISECONDS: f64 = 5.0;
/// A commit waits for the disk to write about this much.
const SYNCED_BYTES: usize = 8 * 1_024;
const SYNCS_PER_SAMPLE: usize = 20;

/// What a service used at one time, and its latency since the previous sample.
pub(super) struct Sample {
    memory_mib: f64,
    descriptors: f64,
    /// The write-ahead log.
    log_mib: f64,
    database_mib: f64,
    pending_events: f64,
    requests: f64,
    p99_milliseconds: f64,
    /// The longest of a few writes by this process to the disk of the service's folder.
    disk_milliseconds: f64,
}

/// Samples at regular intervals.
pub(super) struct Samples {
    interval: Duration,
    log_mib_max: f64,
    samples: Vec<Sample>,
}

impl Sample {
    pub(super) fn take(subject: &Subject, sql: &SqlClient, latencies: Vec<Duration>) -> Result<Self> {
        let (service, requests) = (&subject.service, u32::try_from(latencies.len())?);
        let times = Percentiles::from_durations(latencies).context("no request in an interval")?;
        let file = service.installation().database_file();
        let size_mib = |path: &Path| path.metadata().map_or(0.0, |file| mebibytes(file.len()));
        let (database_mib, log_mib) = if sql.is_sqlite() {
            (size_mib(&file), size_mib(&file.with_extension("db-wal")))
        } else {
            let query_size = |size| -> Result<f64> {
                let bytes = sql.run_sql(&format!("SELECT {size}"))?;
                Ok(mebibytes(bytes.trim().parse().context("a size")?))
            };
            let database_mib = query_size("pg_database_size(current_database())")?;
            (database_mib, query_size("sum(size) FROM pg_ls_waldir()")?)
        };
        Ok(Self {
            memory_mib: mebibytes(service.resident_memory()?),
            descriptors: f64::from(u32::try_from(service.count_descriptors()?)?),
            log_mib,
            database_mib,
            pending_events: service.pending_events()?,
            requests: f64::from(requests),
            p99_milliseconds: milliseconds(times.p99),
            disk_milliseconds: milliseconds(measure_disk(&file.with_file_name("disk-measurement"))?),
        })
    }
}

/// Returns the longest of a few appends to a new file that are written to the disk one by one.
fn measure_disk(file: &Path) -> Result<Duration> {
    let mut longest = Duration::ZERO;
    let mut content = File::create(file)?;
    for _ in 0..SYNCS_PER_SAMPLE {
        let start = Instant::now();
        content.write_all(&[0; SYNCED_BYTES])?;
        content.sync_data()?;
        longest = longest.max(start.elapsed());
    }
    std::fs::remove_file(file)?;
    Ok(longest)
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} MiB of memory, {} descriptors, log {:.1} MiB, database {:.1} MiB, {} events pending, \
             {} requests, p99 {:.1} ms, disk {:.1} ms",
            self.memory_mib,
            self.descriptors,
            self.log_mib,
            self.database_mib,
            self.pending_events,
            self.requests,
            self.p99_milliseconds,
            self.disk_milliseconds
        )
    }
}

impl Samples {
    /// No samples of a service with this database.
    pub(super) fn new(interval: Duration, sql: &SqlClient) -> Self {
        let log_mib_max = if sql.is_sqlite() { SQLITE_LOG_MIB_MAX } else { POSTGRES_LOG_MIB_MAX };
        Self { interval, log_mib_max, samples: Vec::new() }
    }

    pub(super) fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// Returns the requests per second.
    pub(super) fn rate(&self) -> f64 {
        self.values(|sample| sample.requests).iter().sum::<f64>() / self.duration_seconds()
    }

    pub(super) fn measurements(&self) -> Vec<Measurement> {
        let memory = self.values(|sample| sample.memory_mib);
        let (slope, hours) = (slope(&memory), self.duration_seconds() / 3_600.0);
        let growth = slope * count(&memory);
        let growth_max = (mean(&memory) * MEMORY_GROWTH_SHARE_MAX).max(MEMORY_GROWTH_MIB_MAX);
        let descriptors = self.values(|sample| sample.descriptors);
        let p99 = self.values(|sample| sample.p99_milliseconds);
        let disk = self.values(|sample| sample.disk_milliseconds);
        let p99_max = (median(first_quarter(&p99)) * P99_GROWTH_MAX).max(ACCEPTED_P99_MILLISECONDS);
        let database = self.values(|sample| sample.database_mib);
        let requests = self.values(|sample| sample.requests).iter().sum::<f64>();
        let database_growth = last(&database) - first(&database);
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        vec![
            Measurement::without_bound("memory, mean", format!("{:.1} MiB", mean(&memory))),
            Measurement::without_bound("  slope", format!("{:.2} MiB/h", growth / hours)),
            Measurement::at_most("  projected growth", growth, growth_max.round(), " MiB"),
            Measurement::without_bound(
                "descriptors in the first quarter",
                format!("{}", largest(first_quarter(&descriptors))),
            ),
            Measurement::at_most(
                "  in the last quarter",
                largest(last_quarter(&descriptors)),
                largest(first_quarter(&descriptors)) + DESCRIPTOR_GROWTH_MAX,
                "",
            ),
            Measurement::at_most(
                "write-ahead log",
                largest(&self.values(|sample| sample.log_mib)),
                self.log_mib_max,
                " MiB",
            ),
            Measurement::without_bound("database, at the end", format!("{:.1} MiB", last(&database))),
            Measurement::without_bound(
                "  growth per recognition",
                format!("{:.0} bytes", database_growth * 1_048_576.0 / requests.max(1.0)),
            ),
            Measurement::without_bound(
                "p99 in the first quarter",
                format!("{:.1} ms", median(first_quarter(&p99))),
            ),
            Measurement::at_most("  in the last quarter", median(last_quarter(&p99)), p99_max.round(), " ms"),
            Measurement::without_bound(
                "longest of 20 other writes, first and last quarter",
                format!("{:.1} ms, {:.1} ms", median(first_quarter(&disk)), median(last_quarter(&disk))),
            ),
            Measurement::without_bound(
                "peak pending events",
                format!("{}", largest(&self.values(|sample| sample.pending_events))),
            ),
        ]
    }

    fn values(&self, value: impl Fn(&Sample) -> f64) -> Vec<f64> {
        self.samples.iter().map(value).collect()
    }

    fn duration_seconds(&self) -> f64 {
        self.interval.as_secs_f64() * count(&self.samples)
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

pub(super) fn mebibytes(bytes: u64) -> f64 {
    f64::from(u32::try_from(bytes >> 10).unwrap_or(u32::MAX)) / 1_024.0
}

fn count<T>(values: &[T]) -> f64 {
    f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values).max(1.0)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn first(values: &[f64]) -> f64 {
    values.first().copied().unwrap_or_default()
}

fn last(values: &[f64]) -> f64 {
    values.last().copied().unwrap_or_default()
}

fn first_quarter(values: &[f64]) -> &[f64] {
    values.get(..values.len().div_ceil(4)).unwrap_or_default()
}

fn last_quarter(values: &[f64]) -> &[f64] {
    values.get(values.len() - values.len().div_ceil(4)..).unwrap_or_default()
}

/// Returns the growth from one value to the next, by the method of least squares.
fn slope(values: &[f64]) -> f64 {
    let centre = (count(values) - 1.0) / 2.0;
    let numbered = (0_u32..).map(f64::from).zip(values);
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (number, value) in numbered {
        covariance += (number - centre) * (value - mean(values));
        variance += (number - centre) * (number - centre);
    }
    if variance > 0.0 { covariance / variance } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{SQLITE_LOG_MIB_MAX, Sample, Samples, slope};
    use crate::campaign::report::Report;

    /// Returns the number of violations of 100 samples. `sample` creates each sample from its number.
    fn violations(sample: impl Fn(f64) -> Sample) -> usize {
        let mut samples = Samples {
            interval: Duration::from_secs(1),
            log_mib_max: SQLITE_LOG_MIB_MAX,
            samples: Vec::new(),
        };
        (0_u32..100).map(f64::from).for_each(|number| samples.add(sample(number)));
        Report::from(samples.measurements()).count_violations()
    }

    fn steady() -> Sample {
        Sample {
            memory_mib: 60.0,
            descriptors: 100.0,
            log_mib: 4.0,
            database_mib: 10.0,
            pending_events: 3.0,
            requests: 600.0,
            p99_milliseconds: 20.0,
            disk_milliseconds: 1.0,
        }
    }

    #[test]
    fn growth_of_any_value_is_a_violation() {
        assert_eq!(violations(|_| steady()), 0);
        assert_eq!(violations(|number| Sample { memory_mib: 60.0 + number / 4.0, ..steady() }), 1);
        assert_eq!(violations(|number| Sample { descriptors: 100.0 + number / 4.0, ..steady() }), 1);
        assert_eq!(violations(|number| Sample { log_mib: number * 8.0, ..steady() }), 1);
        assert_eq!(violations(|number| Sample { p99_milliseconds: 20.0 + number, ..steady() }), 1);
        assert_eq!(violations(|number| Sample { p99_milliseconds: 1.0 + number / 50.0, ..steady() }), 0);
    }

    #[test]
    fn a_slope_is_that_of_the_line_through_the_values() {
        assert!((slope(&[1.0, 3.0, 5.0, 7.0]) - 2.0).abs() < 1e-9);
        assert!(slope(&[5.0]).abs() < 1e-9);
    }
}
