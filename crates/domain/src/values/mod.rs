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
mod checked_cast;
mod entity_id;
#[cfg(feature = "use-cases")]
mod formats;
mod groups;
mod ids;
mod invalid_value;
mod iso_date;
mod month_day;
mod page;
mod stored_enum;
mod text;
mod timestamp;
mod update;

pub use calendar::CalendarDate;
pub use checked_cast::checked_cast;
pub use entity_id::EntityId;
#[cfg(feature = "use-cases")]
pub use formats::{CountryCode, DomainName, EmailAddress, PemCertificate, WebUrl};
pub use groups::Groups;
pub use ids::{
    CompanyId, CorporationId, EventId, JournalEntryId, OccasionId, ProviderId, RecognitionId, RedemptionId,
    ScheduleId, UserId,
};
pub use invalid_value::InvalidValue;
pub use iso_date::IsoDate;
pub use month_day::MonthDay;
pub use page::Page;
pub(crate) use stored_enum::stored_enum;
pub use text::{Message, SingleLine, split_full_name};
pub use timestamp::Timestamp;
pub use update::Update;

/// Implements `Display` for types that are shown as they were sent.
macro_rules! display_as_str {
    ($($type:ty),+) => {$(
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    )+};
}

display_as_str!(Groups, SingleLine, Message);
#[cfg(feature = "use-cases")]
display_as_str!(CountryCode, DomainName, EmailAddress, WebUrl);
