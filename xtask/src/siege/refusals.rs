//! Measures the cost of refusing a request with a body, compared with one without.

use anyhow::{Result, ensure};

use super::victim::{Victim, count};
use super::{Finding, Siege};
use crate::harness::https::closed_loop;

const CONNECTIONS: usize = 16;
/// The maximum ratio of the two costs.
const AT_MOST: f64 = 1.5;

/// Settings with which nearly every request is refused.
pub(super) fn settings() -> Vec<(&'static str, String)> {
    vec![
        ("GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND", "1".to_owned()),
        ("GUERDON_RATE_LIMIT__BURST", "400".to_owned()),
    ]
}

pub(super) fn run(siege: &Siege<'_>) -> Result<Vec<Finding>> {
    let victim = Victim::settle(siege.service)?;
    let (provider, company) = (victim.provider(), victim.company());
    let get = provider.get(&format!("/v1/users/{}", company.user(0)));
    let post = provider.post("/v1/recognitions", &company.thanks_by_lot(0, 0, 10));
    let cost = |request: &[u8]| -> Result<f64> {
        let meter = siege.service.meter();
        let bytes = |_, _| request.to_vec();
        let done = closed_loop(siege.service.https(), CONNECTIONS, siege.period, 429, &bytes)?;
        ensure!(done.times.len() > done.refused * 10, "{} were served", done.refused);
        Ok(meter.each(done.answered).0.as_secs_f64() * 1_000_000.0)
    };
    closed_loop(siege.service.https(), CONNECTIONS, siege.period / 4, 429, &|_, _| get.clone())?;
    let (of_get, of_post) = (cost(&get)?, cost(&post)?);
    Ok(vec![
        Finding::told("CPU of a refused GET", format!("{of_get:.0} us")),
        Finding::told(
            format!("CPU of a refused POST of {} bytes", count(post.len())),
            format!("{of_post:.0} us"),
        ),
        Finding::at_most("the one beside the other", of_post / of_get, AT_MOST, ""),
    ])
}
