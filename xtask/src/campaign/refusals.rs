//! Measures the cost of refusing a request with a body, compared with one without.

use anyhow::{Result, ensure};

use super::context::AttackContext;
use super::report::Measurement;
use super::victim::Victim;
use crate::measurement::closed_loop::closed_loop;
use crate::measurement::percentiles::to_f64;

const CONNECTIONS: usize = 16;
/// The maximum ratio of the two costs.
const COST_RATIO_MAX: f64 = 1.5;

/// Settings with which nearly every request is refused.
pub(super) fn extra_settings() -> Vec<(&'static str, String)> {
    vec![
        ("GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND", "1".to_owned()),
        ("GUERDON_RATE_LIMIT__BURST", "400".to_owned()),
    ]
}

pub(super) fn run(context: &AttackContext<'_>) -> Result<Vec<Measurement>> {
    let (victim, period) = (Victim::create(context.service)?, context.period(2));
    let (provider, company) = (victim.provider(), victim.company());
    let get = provider.get_request(&format!("/v1/users/{}", company.user_id(0)));
    let post = provider.post_request("/v1/recognitions", &company.random_recognition(0, 0, 10));
    let cost = |request: &[u8]| -> Result<f64> {
        let meter = context.service.start_cpu_meter();
        let bytes = |_, _| request.to_vec();
        let result = closed_loop(context.service.https(), CONNECTIONS, period, 429, &bytes)?;
        ensure!(
            result.times.len() > result.unexpected * 10,
            "{} requests were served, but nearly all should be refused",
            result.unexpected
        );
        Ok(meter.per_request(result.responses).0.as_secs_f64() * 1_000_000.0)
    };
    closed_loop(context.service.https(), CONNECTIONS, period / 10, 429, &|_, _| get.clone())?;
    let (of_get, of_post) = (cost(&get)?, cost(&post)?);
    Ok(vec![
        Measurement::without_bound("CPU of a refused GET", format!("{of_get:.0} us")),
        Measurement::without_bound(
            format!("CPU of a refused POST of {} bytes", to_f64(post.len())),
            format!("{of_post:.0} us"),
        ),
        Measurement::at_most("ratio of POST to GET", of_post / of_get, COST_RATIO_MAX, ""),
    ])
}
