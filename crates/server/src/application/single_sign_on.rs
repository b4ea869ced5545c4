//! Warns of identity providers' certificates that expire soon, with a log line, a metric, and a mail to administrators.

use std::time::Duration;

use guerdon_domain::journal::{Actor, Origin};
use guerdon_domain::ports::{Context, Store, StoreError, StoreExt};
use guerdon_domain::saml::{expires_soon, notify_of_expiry};
use guerdon_domain::values::CompanyId;
use guerdon_webhook_dispatcher::Bodies;
use metrics::gauge;

use super::metrics::EXPIRING_SAML_CERTIFICATES;
use crate::platform::{SystemClock, SystemIds};

pub(super) const CHECK_INTERVAL: Duration = Duration::from_secs(12 * 3_600);
const PAGE_SIZE: i64 = 200;

/// Checks all certificates.
pub(super) fn check_certificates(store: &dyn Store) {
    match warn_of_expiring(store) {
        Ok(count) => gauge!(EXPIRING_SAML_CERTIFICATES).set(count),
        Err(cause) => log::warn!(cause:%; "cannot check single sign-on certificates"),
    }
}

fn warn_of_expiring(store: &dyn Store) -> Result<u32, StoreError> {
    let origin = Origin { actor: Actor::Operator, reference: Some("single sign-on"), key: None };
    let context = Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, origin };
    let now = context.clock.now();
    let (mut after, mut count): (Option<CompanyId>, u32) = (None, 0);
    loop {
        let page = store.read_snapshot(|reads| reads.list_active_saml_settings(after, PAGE_SIZE))?;
        let Some((last, _)) = page.last() else { return Ok(count) };
        after = Some(*last);
        for (company, _) in page.iter().filter(|(_, settings)| expires_soon(settings, now).is_some()) {
            if let Some(end) = store.transaction(|tx| notify_of_expiry(tx, *company, &context))? {
                log::warn!(company_id:% = company, expires_at:% = end; "a single sign-on certificate expires soon or has expired");
                count += 1;
            }
        }
    }
}
