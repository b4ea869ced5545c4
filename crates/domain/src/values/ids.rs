//! A type for each kind of id, so that ids cannot be confused.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use super::InvalidValue;

const INVALID_UUID: InvalidValue = InvalidValue("must be a UUID");
/// The length of the hyphenated form, the only one that is accepted: no braces, no `urn:uuid:`, no bare
/// digits (behaviour 2.5).
const HYPHENATED_LENGTH: usize = 36;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "String", into = "String"))]
        pub struct $name(Uuid);

        impl $name {
            /// Converts from a UUID.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID as it is stored.
            pub const fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        /// The sixteen bytes of the UUID.
        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                self.0.as_bytes()
            }
        }

        /// Lower-case and hyphenated (behaviour 3.2).
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0.as_hyphenated(), formatter)
            }
        }

        /// Parses any version in any case, in the hyphenated form of 36 characters.
        impl FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<Self, InvalidValue> {
                parse_uuid(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidValue;

            fn try_from(text: String) -> Result<Self, InvalidValue> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    )+ };
}

ids! {
    /// A provider: the tenant that calls the API.
    ProviderId,
    /// A company of a provider.
    CompanyId,
    /// A corporation: a group of companies.
    CorporationId,
    /// A user of a company.
    UserId,
    /// An occasion for recognitions.
    OccasionId,
    /// A recognition that one receiver received.
    RecognitionId,
    /// A redemption: a reward for which a user spent points.
    RedemptionId,
    /// A journal entry. The journal entry of a redemption has the same id as the redemption.
    JournalEntryId,
    /// A recurring distribution.
    ScheduleId,
    /// An event queued for a provider.
    EventId,
}

fn parse_uuid(text: &str) -> Result<Uuid, InvalidValue> {
    Some(text)
        .filter(|text| text.len() == HYPHENATED_LENGTH)
        .and_then(|text| Uuid::try_parse(text).ok())
        .ok_or(INVALID_UUID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_hyphenated_uuid_of_any_version_and_case() {
        let check = |input: &str, expected: Option<&str>| {
            let shown = input.parse::<UserId>().map(|id| id.to_string());
            assert_eq!(shown.ok().as_deref(), expected, "{input:?}");
        };
        let seven = "0192f0c1-7e3b-7c5d-8e9f-0123456789ab";
        check(seven, Some(seven));
        check("0192F0C1-7E3B-7C5D-8E9F-0123456789AB", Some(seven));
        check("0192f0c1-7E3B-7c5d-8E9F-0123456789ab", Some(seven));
        check("9b2e4c1a-3f7d-4a6b-9c8e-5d1f2a3b4c5d", Some("9b2e4c1a-3f7d-4a6b-9c8e-5d1f2a3b4c5d"));
        check("00000000-0000-0000-0000-000000000000", Some("00000000-0000-0000-0000-000000000000"));
        check("ffffffff-ffff-ffff-ffff-ffffffffffff", Some("ffffffff-ffff-ffff-ffff-ffffffffffff"));
        check("", None);
        check("1", None);
        check("0192f0c17e3b7c5d8e9f0123456789ab", None);
        check("{0192f0c1-7e3b-7c5d-8e9f-0123456789ab}", None);
        check("urn:uuid:0192f0c1-7e3b-7c5d-8e9f-0123456789ab", None);
        check(" 0192f0c1-7e3b-7c5d-8e9f-0123456789ab", None);
        check("0192f0c1-7e3b-7c5d-8e9f-0123456789a", None);
        check("0192f0c1-7e3b-7c5d-8e9f-0123456789ag", None);
        check("0192f0c17-e3b-7c5d-8e9f-0123456789ab", None);
        check("0192f0c1-7e3b-7c5d-8e9f-0123456789\0b", None);
        check("0192f0c1-7e3b-7c5d-8e9f-0123456789é", None);
    }

    #[test]
    fn serde_accepts_the_same_values_as_the_type() {
        let text = "\"0192f0c1-7e3b-7c5d-8e9f-0123456789ab\"";
        let id: UserId = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), text);
        assert!(serde_json::from_str::<UserId>("\"0192f0c17e3b7c5d8e9f0123456789ab\"").is_err());
    }

    #[test]
    fn ids_sort_as_their_uuids() {
        let id = |text: &str| text.parse::<JournalEntryId>().unwrap();
        let (first, second) =
            (id("0192f0c1-7e3b-7c5d-8e9f-0123456789ab"), id("0192f0c1-7e3c-7000-8000-000000000000"));
        assert!(first < second);
        assert_eq!(JournalEntryId::from_uuid(first.as_uuid()), first);
    }
}
