//! The optional details of a user.

use crate::values::Update;

/// Passes the list of details to another macro, in the order in which they are always shown. Details are
/// named only here and in the database tables: rows, requests and responses are generated from this list.
/// Each type has a `parse` and a `Display`.
#[macro_export]
macro_rules! person_details {
    ($macro:ident) => {
        $macro! {
            department: $crate::values::SingleLine,
            /// Job title.
            title: $crate::values::SingleLine,
            /// The supervisor's address, which need not belong to a user.
            supervisor_email: $crate::values::EmailAddress,
            /// The identifier that the company assigned to the user.
            employee_id: $crate::values::SingleLine,
            /// Day and month of birth.
            birthday: $crate::values::MonthDay,
            /// ISO 3166 code.
            country_code: $crate::values::CountryCode,
            /// The first day of work.
            work_start_date: $crate::values::CalendarDate,
            office_city: $crate::values::SingleLine,
            office_state: $crate::values::SingleLine,
            office_country: $crate::values::SingleLine,
        }
    };
}

macro_rules! details {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
        /// The optional details of a user.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Details {
            $($(#[$doc])* pub $name: Option<$type>,)+
        }

        /// Changes to the details.
        #[derive(Debug, Clone, Default)]
        pub struct UpdateDetails {
            $($(#[$doc])* pub $name: Update<$type>,)+
        }

        impl UpdateDetails {
            pub(crate) fn apply(&self, details: &mut Details) {
                $(self.$name.apply_to_field(&mut details.$name);)+
            }
        }
    };
}

person_details!(details);
