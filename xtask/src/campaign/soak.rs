//! Runs the service at a share of its peak load for a long time. Memory, descriptors, write-ahead log and latency must
//! not grow, and PostgreSQL's tables and indexes must stay near the size of their content. At the end, the ledger must
//! contain each acknowledged recognition once, and no other.
//!
//! The peak is measured first, with clients that wait only for their responses. Then the clients send at a fixed rate,
//! and samples are taken at regular intervals. The first quarter of the samples is compared with the last one.

mod acknowledged_ids;
mod bloat;
mod paced_load;
mod samples;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::WebhookReceiver;

use self::bloat::measure_bloat;
use self::paced_load::PacedLoad;
use self::samples::{Sample, Samples};
use super::context::Setup;
use super::report::{Measurement, Report};
use super::sql::SqlClient;
use super::subject::Subject;
use crate::measurement::closed_loop::closed_loop;
use crate::measurement::percentiles::to_f64;

const PEAK_CONNECTIONS: usize = 32;
const PEAK_DURATION: Duration = Duration::from_secs(10);
/// The load before the first sample, in which caches and pools fill.
const WARM_UP: Duration = Duration::from_secs(20);
/// The number of samples, and the shortest interval between two samples.
const SAMPLES: u32 = 60;
const SAMPLE_INTERVAL_MIN: Duration = Duration::from_secs(2);
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(180);

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    let receiver = WebhookReceiver::start()?;
    let subject = Subject::start(setup, &receiver)?;
    let sql = subject.sql_client(setup)?;
    let peak = measure_peak(&subject)?;
    receiver.unread_requests(); // releases the memory of the recorded events
    let rate = peak * f64::from(setup.load_percent) / 100.0;
    let recognitions_before = count_recognitions(&sql)?;
    let load = PacedLoad::new(&subject, rate)?;
    let samples = load.run_during(|| {
        std::thread::sleep(WARM_UP);
        load.take_latencies();
        take_samples(setup, &subject, &sql, &receiver, &load)
    })?;
    subject.service.wait_for_empty_outbox(DELIVERY_TIMEOUT).context("after the load")?;
    subject.verify()?;
    let added = count_recognitions(&sql)? - recognitions_before;
    let recorded = load.acknowledged_ids().count_recorded(&sql)?;
    let (acknowledged, refused, broken) =
        (load.acknowledged_ids().count(), load.refused_requests(), load.connection_errors());
    let refused_count = refused.values().map(|(count, _)| count).sum::<usize>();
    if !broken.is_empty() {
        eprintln!("{}", subject.service.read_log());
    }
    let mut measurements = vec![
        Measurement::without_bound("peak", format!("{peak:.0}/s")),
        Measurement::without_bound("load", format!("{rate:.0}/s")),
        Measurement::at_least("  of this sent", samples.rate() / rate * 100.0, 95.0, " %"),
        Measurement::at_most("responses other than 201", to_f64(refused_count), 0.0, ""),
    ];
    measurements.extend(refused.into_iter().map(|(status, (count, first))| {
        Measurement::without_bound(format!("  {status}, the first {first}"), count.to_string())
    }));
    measurements.push(Measurement::at_most("connections that broke", to_f64(broken.len()), 0.0, ""));
    measurements.extend(broken.first().map(|error| Measurement::without_bound(error, "")));
    measurements.extend(samples.measurements());
    if !sql.is_sqlite() {
        measurements.extend(measure_bloat(&sql)?);
    }
    Ok(Report {
        measurements,
        operations: acknowledged + refused_count,
        lost: Some(acknowledged - recorded),
        // A request without a 201 may have been executed.
        duplicated: Some(added.saturating_sub(recorded + refused_count + broken.len())),
        ..Report::default()
    })
}

fn count_recognitions(sql: &SqlClient) -> Result<usize> {
    sql.run_sql("SELECT count(*) FROM recognitions")?.trim().parse().context("a number of recognitions")
}

/// Returns how many recognitions per second the service accepts and delivers. The clients send the next request after
/// each response. The time includes the delivery of the events that are pending when the clients stop.
fn measure_peak(subject: &Subject) -> Result<f64> {
    let request = |connection: usize, count: usize| {
        let body = subject.company.random_recognition(1_000 + connection, count, 1);
        subject.provider.post_request("/v1/recognitions", &body)
    };
    let start = Instant::now();
    let result = closed_loop(subject.service.https(), PEAK_CONNECTIONS, PEAK_DURATION, 201, &request)?;
    ensure!(result.unexpected == 0, "{:?}", result.first_unexpected);
    subject.service.wait_for_empty_outbox(DELIVERY_TIMEOUT)?;
    Ok(f64::from(result.responses) / start.elapsed().as_secs_f64())
}

fn take_samples(
    setup: &Setup<'_>,
    subject: &Subject,
    sql: &SqlClient,
    receiver: &WebhookReceiver,
    load: &PacedLoad<'_>,
) -> Result<Samples> {
    let (start, interval) = (Instant::now(), (setup.duration / SAMPLES).max(SAMPLE_INTERVAL_MIN));
    let mut samples = Samples::new(interval, sql);
    for number in 1.. {
        if interval * number > setup.duration {
            break;
        }
        std::thread::sleep((interval * number).saturating_sub(start.elapsed()));
        receiver.unread_requests();
        let sample = Sample::take(subject, sql, load.take_latencies())?;
        eprintln!("{:5} s: {sample}", start.elapsed().as_secs());
        samples.add(sample);
    }
    Ok(samples)
}
