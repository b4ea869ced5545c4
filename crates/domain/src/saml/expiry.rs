//! Notifies administrators once, in advance, that the certificate of an identity provider is about to expire.

use std::time::Duration;

use crate::any_provider;
use crate::model::{Notification, SamlSettings};
use crate::notifications::notify_administrators;
use crate::ports::{
    Context, LockableRow, Locks, NotificationOutbox, ReadCompanies, ReadUsers, Saml, StoreError,
};
use crate::values::{CompanyId, Timestamp};

/// The administrators are notified this long before the certificate expires.
const EXPIRY_NOTICE: Duration = Duration::from_secs(30 * 86_400);

/// When the single sign-on certificate expires; `None` unless single sign-on is active and the certificate
/// has expired or expires soon.
pub fn near_or_past_expiry(settings: &SamlSettings, now: Timestamp) -> Option<Timestamp> {
    let end = settings.idp_certificate.as_ref().filter(|_| settings.active)?.expires_at();
    (end < now.saturating_add(EXPIRY_NOTICE)).then_some(end)
}

/// Notifies the administrators of a company that its single sign-on certificate expires soon or has expired,
/// once for each certificate. Returns the expiry time if it is near or past.
pub fn notify_of_expiry<T>(
    tx: &mut T,
    id: CompanyId,
    context: &Context<'_>,
) -> Result<Option<Timestamp>, StoreError>
where
    T: Locks + NotificationOutbox + ReadCompanies + ReadUsers + Saml + ?Sized,
{
    tx.lock_row(LockableRow::Company(id))?;
    let settings = tx.saml_settings(id)?;
    let now = context.clock.now();
    let Some(end) = near_or_past_expiry(&settings, now) else { return Ok(None) };
    let Some(company) = any_provider::find_company(tx, id)? else { return Ok(None) };
    if tx.record_expiry_notice(id, end)? {
        let about = (&company).into();
        let notification =
            Notification::CertificateExpiring { company: about, expires_at: end, has_expired: end < now };
        notify_administrators(tx, &company, None, &notification, context)?;
    }
    Ok(Some(end))
}
