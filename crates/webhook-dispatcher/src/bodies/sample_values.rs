//! The values that example events share. Operators test receivers with such events.

use guerdon_domain::money::Points;
use guerdon_domain::ports::{IdGenerator, RenderError};
use guerdon_domain::users::UserSummary;
use guerdon_domain::values::{CompanyId, EmailAddress, InvalidValue, SingleLine, UserId};

/// A user with new ids.
pub(super) fn sample_receiver(ids: &dyn IdGenerator) -> Result<UserSummary, RenderError> {
    let describe = |error: InvalidValue| RenderError(error.to_string());
    Ok(UserSummary {
        id: UserId::from_uuid(ids.next_id()),
        company_id: CompanyId::from_uuid(ids.next_id()),
        first_name: SingleLine::parse("Grace").map_err(describe)?,
        last_name: Some(SingleLine::parse("Hopper").map_err(describe)?),
        email: EmailAddress::parse("grace@example.com").map_err(describe)?,
        manager: false,
        active: true,
    })
}

/// The points of a recognition or a redemption.
pub(super) fn sample_points() -> Points {
    Points::new(10).unwrap_or_default()
}
