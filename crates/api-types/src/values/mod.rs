//! The values that clients send and receive: how each is parsed from JSON, and its JSON Schema for the API description.

mod last_name;
mod sender_type;

use std::fmt::Display;

use guerdon_domain::companies::OwnerName;
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::money::{Dollars, Points, PointsPerDollar};
use guerdon_domain::recognitions::{InvalidReceivers, Receivers};
use guerdon_domain::values::{
    CalendarDate, CompanyId, CorporationId, CountryCode, DomainName, EmailAddress, EntityId, EventId, Groups,
    InvalidValue, Message, MonthDay, OccasionId, PemCertificate, RecognitionId, SingleLine, Timestamp,
    UserId, WebUrl,
};
use guerdon_domain::wallets::{Direction, Reason, WalletType};
use schemars::{Schema, json_schema};
use uuid::Uuid;

pub use last_name::LastName;
pub use sender_type::SenderType;

/// A value that has a JSON Schema.
pub trait ValueSchema {
    /// The JSON Schema of the value.
    fn value_schema() -> Schema;
}

/// A value that is sent as a string.
pub trait FromText: ValueSchema + Sized {
    /// Why a string is not a valid value: the rule that it breaks.
    type Fault: Display;
    /// The expected value, such as `a string with a UUID`. Appears in the message if a value of another type was sent.
    const EXPECTED: &'static str;

    /// Parses the string.
    fn from_text(text: &str) -> Result<Self, Self::Fault>;
}

/// A value that is sent as an integer.
pub trait FromInteger: ValueSchema + Sized {
    /// The expected value, such as `an integer from 1 to 10000`. Appears in the message.
    const EXPECTED: &'static str;

    /// The value of an integer; `None` if it is not valid.
    fn from_integer(integer: i64) -> Option<Self>;
}

macro_rules! text_values {
    ($($type:ty, $parse:expr, $fault:ty, $expected:literal, $schema:tt;)+) => { $(
        impl ValueSchema for $type {
            fn value_schema() -> Schema {
                json_schema!($schema)
            }
        }

        impl FromText for $type {
            type Fault = $fault;
            const EXPECTED: &'static str = $expected;

            fn from_text(text: &str) -> Result<Self, $fault> {
                $parse(text)
            }
        }
    )+ };
}

macro_rules! id_values {
    ($($type:ty),+) => {
        text_values! { $(
            $type, str::parse, InvalidValue, "a string with a UUID", {"type": "string", "format": "uuid"};
        )+ }
    };
}

/// Implements the traits for enumerations whose values are sent by name.
macro_rules! named_values {
    ($($type:ty, $expected:literal;)+) => { $(
        impl ValueSchema for $type {
            fn value_schema() -> Schema {
                let names: Vec<&str> = Self::ALL.iter().map(|variant| variant.name()).collect();
                json_schema!({"type": "string", "enum": names})
            }
        }

        impl FromText for $type {
            type Fault = String;
            const EXPECTED: &'static str = $expected;

            fn from_text(text: &str) -> Result<Self, String> {
                Self::from_name(text).ok_or_else(|| format!("must be {}", Self::list_names()))
            }
        }
    )+ };
}

id_values!(CompanyId, CorporationId, UserId, OccasionId, RecognitionId, EventId);

text_values! {
    SingleLine, SingleLine::parse, InvalidValue, "a string of 1 to 255 characters",
        {"type": "string", "minLength": 1, "maxLength": SingleLine::CHARS_MAX, "pattern": NOT_BLANK};
    Message, Message::parse, InvalidValue, "a string of at most 10,000 characters",
        {"type": "string", "maxLength": Message::CHARS_MAX, "pattern": NO_CONTROLS};
    EmailAddress, EmailAddress::parse, InvalidValue, "a string with an email address",
        {"type": "string", "format": "email", "maxLength": EmailAddress::CHARS_MAX};
    DomainName, DomainName::parse, InvalidValue, "a string with a domain name",
        {"type": "string", "format": "hostname", "maxLength": DomainName::CHARS_MAX};
    WebUrl, WebUrl::parse, InvalidValue, "a string with an http or https URL",
        {"type": "string", "format": "uri", "maxLength": WebUrl::CHARS_MAX, "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"};
    EntityId, EntityId::parse, InvalidValue, "a string of 1 to 1,024 characters",
        {"type": "string", "minLength": 1, "maxLength": EntityId::CHARS_MAX, "pattern": NOT_BLANK};
    PemCertificate, PemCertificate::parse, InvalidValue, "a string with a certificate in PEM",
        {"type": "string", "maxLength": PemCertificate::BYTES_MAX, "pattern": "-----BEGIN CERTIFICATE-----"};
    MonthDay, MonthDay::parse, InvalidValue, "a string in the form mm/dd",
        {"type": "string", "pattern": "^(0[1-9]|1[0-2])/(0[1-9]|[12][0-9]|3[01])$"};
    CalendarDate, CalendarDate::parse, InvalidValue, "a string in the form mm/dd/yyyy",
        {"type": "string", "pattern": "^(0[1-9]|1[0-2])/(0[1-9]|[12][0-9]|3[01])/[0-9]{4}$"};
    CountryCode, CountryCode::parse, InvalidValue, "a string with a country code of ISO 3166-1",
        {"type": "string", "pattern": "^[A-Za-z]{2,3}$"};
    Timestamp, Timestamp::parse, InvalidValue, "a string with a time such as 2026-11-20T20:01:02.345Z",
        {"type": "string", "format": "date-time", "pattern": "^(19[7-9][0-9]|[2-9][0-9]{3})-"};
    Receivers, Receivers::parse, InvalidReceivers, "a string of user ids separated by commas",
        {"type": "string", "pattern": RECEIVERS, "maxLength": 380_000};
    // A string that contains no group name is read as `None`.
    Option<Groups>, Groups::parse, InvalidValue, "a string of names separated by commas",
        {"type": "string", "maxLength": Groups::CHARS_MAX, "pattern": ONE_LINE};
}

named_values! {
    WalletType, "a string with the name of a wallet";
    EventKind, "a string with the name of a kind of event";
    EventState, "a string with the name of a state";
}

/// One line that is not blank.
const NOT_BLANK: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// One line.
const ONE_LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// Text without control characters except line breaks and tabs.
const NO_CONTROLS: &str = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$";
/// Ids separated by commas.
const RECEIVERS: &str = "^[ \\t]*[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}[ \\t]*(,[ \\t]*[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}[ \\t]*)*$";

impl ValueSchema for Uuid {
    fn value_schema() -> Schema {
        CompanyId::value_schema()
    }
}

impl ValueSchema for Direction {
    fn value_schema() -> Schema {
        let names: Vec<&str> = Self::ALL.iter().map(|direction| direction.name()).collect();
        json_schema!({"type": "string", "enum": names})
    }
}

impl ValueSchema for Reason {
    fn value_schema() -> Schema {
        let names: Vec<&str> = Self::ALL
            .iter()
            .filter(|reason| **reason != Self::Rounding)
            .map(|reason| reason.name())
            .collect();
        json_schema!({"type": "string", "enum": names})
    }
}

impl ValueSchema for Dollars {
    fn value_schema() -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$"})
    }
}

/// Responses have the same schema as requests.
impl ValueSchema for Groups {
    fn value_schema() -> Schema {
        Option::<Self>::value_schema()
    }
}

impl ValueSchema for PointsPerDollar {
    fn value_schema() -> Schema {
        json_schema!({"type": "integer", "format": "int64", "minimum": 1, "maximum": Self::MAX})
    }
}

impl FromInteger for PointsPerDollar {
    const EXPECTED: &'static str = "an integer from 1 to 10000";

    fn from_integer(integer: i64) -> Option<Self> {
        Self::new(integer)
    }
}

impl ValueSchema for Points {
    fn value_schema() -> Schema {
        // The schema omits the maximum, which JavaScript cannot represent exactly; the format implies it.
        json_schema!({"type": "integer", "format": "int64", "minimum": 0})
    }
}

impl FromInteger for Points {
    const EXPECTED: &'static str = "a non-negative integer";

    fn from_integer(integer: i64) -> Option<Self> {
        Self::new(integer)
    }
}

/// The first and the last name, separated by a space.
impl ValueSchema for OwnerName {
    fn value_schema() -> Schema {
        json_schema!({"type": "string", "minLength": 1, "maxLength": 2 * SingleLine::CHARS_MAX + 1})
    }
}

impl FromText for OwnerName {
    type Fault = InvalidValue;
    const EXPECTED: &'static str = SingleLine::EXPECTED;

    fn from_text(text: &str) -> Result<Self, InvalidValue> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn must_be<T: FromText>() -> String {
        T::from_text("?").err().map(|fault| fault.to_string()).unwrap_or_default()
    }

    #[test]
    fn messages_list_every_name() {
        let check = |must_be: String, expected: &str| assert_eq!(must_be, expected);
        check(must_be::<WalletType>(), "must be user_wallet, peer_wallet or manager_wallet");
        check(must_be::<EventState>(), "must be pending, delivered, exhausted or unaddressed");
        assert!(EventKind::ALL.iter().all(|kind| must_be::<EventKind>().contains(kind.name())));
    }

    #[test]
    fn messages_about_the_type_state_the_limits() {
        assert!(SingleLine::EXPECTED.contains(&SingleLine::CHARS_MAX.to_string()));
        assert!(Message::EXPECTED.contains("10,000"));
        assert!(EntityId::EXPECTED.contains("1,024"));
        assert!(PointsPerDollar::EXPECTED.ends_with(&PointsPerDollar::MAX.to_string()));
        // The maximum number of ids, each followed by a comma and a space.
        assert_eq!(Receivers::MAX * 38, 380_000);
    }
}
