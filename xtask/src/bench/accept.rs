//! How much deliveries slow down requests: recognitions with events that are delivered meanwhile, compared with
//! recognitions without a callback URL.

use std::time::Duration;

use anyhow::Result;

use super::figures::{Round, Row, Wanted};
use super::load;
use super::plan::{Case, Plan};
use crate::harness::fixture::{Company, Provider};
use crate::harness::receiver::{Manner, Receiver};
use crate::harness::service::Service;
use crate::harness::times::per_second;

const USERS: usize = 1_000;
const POINTS: &str = "500000";
/// All events accepted in a round are delivered within this time.
const LIMIT: Duration = Duration::from_secs(60);

/// A provider with a company for its requests.
struct Side {
    provider: Provider,
    company: Company,
}

impl Side {
    fn create(service: &Service, name: &str, callback_url: Option<&str>) -> Result<Self> {
        let provider = Provider::create(service, callback_url)?;
        let company = Company::create(service, &provider, name, USERS)?;
        service.operate(&[
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

    fn accept(&self, service: &Service, plan: &Plan<'_>) -> Result<Round> {
        load::round(service, service.https(), plan, 201, &|at, count| {
            self.provider.post("/v1/recognitions", &self.company.thanks_by_lot(at, count, 1))
        })
    }
}

pub(super) fn measure(service: &Service, plan: &Plan<'_>) -> Result<Vec<Row>> {
    let receiver = Receiver::start(Manner::Confirms)?;
    let silent = Side::create(service, "silent", None)?;
    let told = Side::create(service, "told", Some(&receiver.url()))?;
    let (mut rounds, mut ceilings, mut delivered) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let most = silent.accept(service, plan)?;
        drop(receiver.take());
        let mut round = told.accept(service, plan)?;
        let arrived = receiver.take().len();
        service.wait_until_settled(LIMIT)?;
        let arrived = per_second(arrived, plan.period());
        delivered.push(arrived);
        round.per_second = round.per_second.min(arrived); // events that are accepted but not delivered do not count
        round.ceiling = Some(most.per_second);
        rounds.push(round);
        ceilings.push(most);
    }
    let ceiling = "the same, nothing to deliver";
    Ok(vec![
        Row::of(Case::AcceptAndDeliver.name(), rounds)
            .beside(ceiling)
            .wanted(&[Wanted::RatioAtLeast(0.6)], &[Wanted::RatioAtLeast(0.8)])
            .note(format!("delivered {:.0}/s", delivered.iter().copied().fold(f64::INFINITY, f64::min))),
        Row::of(format!("  ceiling: {ceiling}"), ceilings),
    ])
}
