//! How much deliveries slow down requests: recognitions whose events are delivered at the same time, compared with
//! recognitions without a callback URL.

use std::time::Duration;

use anyhow::Result;
use guerdon_test_harness::WebhookReceiver;

use super::load;
use super::plan::{Case, Plan};
use super::results::{Goal, ResultRow, Round};
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::percentiles::per_second;
use crate::measurement::service::RunningService;

const USERS: usize = 1_000;
const POINTS: &str = "500000";
/// All events accepted in a round must be delivered within this time.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(60);

/// A provider with a company for its requests.
struct ProviderLoad {
    provider: Provider,
    company: Company,
}

impl ProviderLoad {
    fn create(service: &RunningService, name: &str, callback_url: Option<&str>) -> Result<Self> {
        let provider = Provider::create(service, callback_url)?;
        let company = Company::create(service, &provider, name, USERS)?;
        service.run_cli(&[
            "distribution",
            "run",
            &company.id,
            "--wallet",
            "peer_wallet",
            "--points",
            POINTS,
        ])?;
        Ok(Self { provider, company })
    }

    fn run_round(&self, service: &RunningService, plan: &Plan<'_>) -> Result<Round> {
        load::run_round(service, service.https(), plan, 201, &|at, count| {
            self.provider.post_request("/v1/recognitions", &self.company.random_recognition(at, count, 1))
        })
    }
}

pub(super) fn measure(service: &RunningService, plan: &Plan<'_>) -> Result<Vec<ResultRow>> {
    let receiver = WebhookReceiver::start()?;
    let silent = ProviderLoad::create(service, "silent", None)?;
    let notified = ProviderLoad::create(service, "notified", Some(&receiver.named_url()))?;
    let (mut rounds, mut baselines, mut delivered) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let baseline = silent.run_round(service, plan)?;
        drop(receiver.unread_requests());
        let mut round = notified.run_round(service, plan)?;
        let arrived = receiver.unread_requests().len();
        service.wait_for_empty_outbox(DELIVERY_TIMEOUT)?;
        let arrived = per_second(arrived, plan.period());
        delivered.push(arrived);
        round.per_second = round.per_second.min(arrived); // events that are accepted but not delivered do not count
        round.baseline = Some(baseline.per_second);
        rounds.push(round);
        baselines.push(baseline);
    }
    let baseline_name = "the same, nothing to deliver";
    Ok(vec![
        ResultRow::from_rounds(Case::AcceptAndDeliver.name(), rounds)
            .compared_with(baseline_name)
            .with_goals(&[Goal::RatioAtLeast(0.6)], &[Goal::RatioAtLeast(0.8)])
            .with_note(format!("delivered {:.0}/s", delivered.iter().copied().fold(f64::INFINITY, f64::min))),
        ResultRow::from_rounds(format!("  baseline: {baseline_name}"), baselines),
    ])
}
