//! Warns of certificates of identity providers that expire soon: by a log line, a metric, and a mail to administrators.

use std::time::Duration;

use guerdon_domain::journal::{Actor, Origin};
use guerdon_domain::ports::{Context, Store, StoreError, StoreExt};
use guerdon_domain::saml::{ends_soon, tell_of_end};
use guerdon_domain::values::CompanyId;
use guerdon_webhook_dispatcher::Bodies;
use metrics::gauge;

use super::metrics::SAML_ENDING;
use crate::platform::{SystemClock, SystemIds};

pub(super) const EVERY: Duration = Duration::from_secs(12 * 3_600);
const PAGE: i64 = 200;

/// Checks all certificates.
pub(super) fn look(store: &dyn Store) {
    match ending(store) {
        Ok(count) => gauge!(SAML_ENDING).set(count),
        Err(cause) => log::warn!("cannot check single sign-on certificates: {cause}"),
    }
}

fn ending(store: &dyn Store) -> Result<u32, StoreError> {
    let origin = Origin { actor: Actor::Operator, reference: Some("single sign-on"), key: None };
    let context = Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, origin };
    let now = context.clock.now();
    let (mut behind, mut count): (Option<CompanyId>, u32) = (None, 0);
    loop {
        let page = store.snapshot(|reads| reads.with_active_saml(behind, PAGE))?;
        let Some((last, _)) = page.last() else { return Ok(count) };
        behind = Some(*last);
        for (company, _) in page.iter().filter(|(_, settings)| ends_soon(settings, now).is_some()) {
            if let Some(end) = store.transaction(|tx| tell_of_end(tx, *company, &context))? {
                log::warn!("the single sign-on certificate of company {company} expires at {end}");
                count += 1;
            }
        }
    }
}
