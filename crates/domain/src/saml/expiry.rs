//! Notifies administrators once, in advance, that the certificate of an identity provider expires.

use std::time::Duration;

use crate::look_up;
use crate::model::{Notification, SamlSettings};
use crate::notifications::notify_administrators;
use crate::ports::{Context, Locks, MailOutbox, ReadCompanies, ReadUsers, Row, Saml, StoreError};
use crate::values::{CompanyId, Timestamp};

/// How long before the end the administrators are notified.
const ENDS_SOON: Duration = Duration::from_secs(30 * 86_400);

/// The end of the single sign-on certificate, if single sign-on is active and the end is near or has passed.
pub fn ends_soon(settings: &SamlSettings, now: Timestamp) -> Option<Timestamp> {
    let end = settings.idp_certificate.as_ref().filter(|_| settings.active)?.expires_at();
    (end < now.saturating_add(ENDS_SOON)).then_some(end)
}

/// Notifies the administrators of a company that its single sign-on certificate expires soon, or has expired;
/// once for each certificate. Returns the end if it is soon.
pub fn tell_of_end<T>(
    tx: &mut T,
    id: CompanyId,
    context: &Context<'_>,
) -> Result<Option<Timestamp>, StoreError>
where
    T: Locks + MailOutbox + ReadCompanies + ReadUsers + Saml + ?Sized,
{
    tx.hold(Row::Company(id))?;
    let settings = tx.saml(id)?;
    let now = context.clock.now();
    let Some(end) = ends_soon(&settings, now) else { return Ok(None) };
    let Some(company) = look_up::company(tx, id)? else { return Ok(None) };
    if tx.note_end_told(id, end)? {
        let about = (&company).into();
        let notification =
            Notification::CertificateEnding { company: about, ends_at: end, has_ended: end < now };
        notify_administrators(tx, &company, None, &notification, context)?;
    }
    Ok(Some(end))
}
