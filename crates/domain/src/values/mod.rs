//! One parsed type per kind of value: an instance is always valid (behaviour 8).
//!
//! Each type has a private field and one constructor, `parse`, whose error is the end of a message that
//! starts with the field's name. Limits count Unicode scalar values. U+0000 is refused everywhere, as is
//! every other control character, except line breaks and tabs in a [`Message`]. Strings are returned byte for
//! byte as they were sent, unless the type documents another form.
//!
//! An empty string in an optional field means null (behaviour 8.13). The caller handles that case, and parses
//! all other strings.

mod calendar;
#[cfg(feature = "use-cases")]
mod certificate;
#[cfg(feature = "use-cases")]
mod country;
#[cfg(feature = "use-cases")]
mod domain_name;
#[cfg(feature = "use-cases")]
mod email;
mod entity_id;
mod fit;
mod groups;
mod ids;
mod invalid;
mod iso_date;
mod month_day;
mod page;
mod stored;
mod text;
mod timestamp;
mod update;
#[cfg(feature = "use-cases")]
mod web_url;

pub use calendar::CalendarDate;
#[cfg(feature = "use-cases")]
pub use certificate::PemCertificate;
#[cfg(feature = "use-cases")]
pub use country::CountryCode;
#[cfg(feature = "use-cases")]
pub use domain_name::DomainName;
#[cfg(feature = "use-cases")]
pub use email::EmailAddress;
pub use entity_id::EntityId;
pub use fit::fit;
pub use groups::Groups;
pub use ids::{
    CompanyId, CorporationId, EventId, JournalEntryId, OccasionId, ProviderId, RecognitionId, RedemptionId,
    ScheduleId, UserId,
};
pub use invalid::InvalidValue;
pub use iso_date::IsoDate;
pub use month_day::MonthDay;
pub use page::Page;
pub(crate) use stored::stored;
pub use text::{Line, Message, split_full_name};
pub use timestamp::Timestamp;
pub use update::Update;
#[cfg(feature = "use-cases")]
pub use web_url::WebUrl;

/// Implements `Display` for types that are shown as they were sent.
macro_rules! show_themselves {
    ($($type:ty),+) => {$(
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    )+};
}

show_themselves!(Groups, Line, Message);
#[cfg(feature = "use-cases")]
show_themselves!(CountryCode, DomainName, EmailAddress, WebUrl);
