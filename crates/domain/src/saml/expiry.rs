//! Certificates of identity providers that soon end: administrators are told once, in time.

use std::time::Duration;

use crate::look_up;
use crate::model::SamlSettings;
use crate::ports::{Context, Locks, MailOutbox, ReadCompanies, ReadUsers, Row, Saml, StoreError};
use crate::reserve::mail_admins;
use crate::values::{CompanyId, Timestamp};

/// So long before its end the administrators are told.
const ENDS_SOON: Duration = Duration::from_secs(30 * 86_400);

/// When the certificate of single sign-on ends, where that is on, and the end is near or over.
pub fn ends_soon(settings: &SamlSettings, now: Timestamp) -> Option<Timestamp> {
    let end = settings.idp_certificate.as_ref().filter(|_| settings.active)?.expires_at();
    (end < now.saturating_add(ENDS_SOON)).then_some(end)
}

/// Tells the administrators of a company that the certificate of its single sign-on ends soon, or has ended; once for each
/// certificate. Answers when it ends, where that is soon.
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
        let (name, domain) = (company.name.as_str(), company.domain.as_str());
        let (word, then) = if end < now { ("has ended", "ended") } else { ("ends soon", "ends") };
        let subject = format!("{name}: the certificate of single sign-on {word}");
        let body = format!(
            "The certificate of the identity provider by which {name} ({domain}) signs on {then} at {end}.\n\n\
             What to do: have a new certificate made at your identity provider, and give it to whoever runs your \
             recognition service, with the metadata file of the identity provider.\n\n\
             Until then: nothing changes here. Once the certificate has ended, signing on may be refused.\n\n\
             This mail is sent once for each certificate. You receive it as an administrator of {name}.\n"
        );
        mail_admins(tx, (&company, None), &subject, &body, context)?;
    }
    Ok(Some(end))
}
