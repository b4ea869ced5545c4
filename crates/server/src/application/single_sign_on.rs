//! Warns of identity providers' certificates that expire soon, with a log line, a metric, and an email to
//! administrators.

use std::time::Duration;

use guerdon_domain::journal::Requester;
use guerdon_domain::ports::{Context, Store, StoreError, StoreExt};
use guerdon_domain::saml::{near_or_past_expiry, notify_of_expiry};
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

/// Checks the certificate of each company. A company whose settings are damaged is logged and skipped, so that the
/// others are checked.
fn warn_of_expiring(store: &dyn Store) -> Result<u32, StoreError> {
    let requester = &Requester { reference: Some("single sign-on".to_owned()), ..Requester::OPERATOR };
    let context = Context { clock: &SystemClock, ids: &SystemIds, bodies: &Bodies, requester };
    let (mut after, mut count): (Option<CompanyId>, u32) = (None, 0);
    loop {
        let page = store.read_snapshot(|reads| reads.list_companies_with_single_sign_on(after, PAGE_SIZE))?;
        let Some(last) = page.last() else { return Ok(count) };
        after = Some(*last);
        for company in page {
            match warn_of_company(store, company, &context) {
                Ok(is_expiring) => count += u32::from(is_expiring),
                Err(cause @ StoreError::Unavailable(_)) => return Err(cause),
                Err(cause) => {
                    log::error!(company_id:% = company, cause:%; "cannot check a single sign-on certificate")
                }
            }
        }
    }
}

/// If the certificate of a company expires soon or has expired, logs it and queues an email to each administrator, once
/// per certificate. Returns whether it expires soon or has expired.
fn warn_of_company(store: &dyn Store, company: CompanyId, context: &Context<'_>) -> Result<bool, StoreError> {
    let settings = store.read_snapshot(|reads| reads.saml_settings(company))?;
    if near_or_past_expiry(&settings, context.clock.now()).is_none() {
        return Ok(false);
    }
    let end = store.transaction(|tx| notify_of_expiry(tx, company, context))?;
    if let Some(end) = end {
        log::warn!(company_id:% = company, expires_at:% = end; "a single sign-on certificate expires soon or has expired");
    }
    Ok(end.is_some())
}
