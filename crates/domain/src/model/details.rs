//! The details of a person that need not be known.

use crate::values::Update;

/// Gives another macro the list of details, in the order in which everybody shows them. This is the one place that
/// names a detail beside the tables: rows, requests and answers are made of the list. Each type has a `parse` and a
/// `Display`.
#[macro_export]
macro_rules! person_details {
    ($macro:ident) => {
        $macro! {
            department: $crate::values::Line,
            /// Profession title.
            title: $crate::values::Line,
            /// The supervisor's address; need not be a user yet.
            supervisor_email: $crate::values::EmailAddress,
            /// The company's own number for the person.
            employee_id: $crate::values::Line,
            /// Day and month of birth.
            birthday: $crate::values::MonthDay,
            /// ISO 3166 code.
            country_code: $crate::values::CountryCode,
            /// The first day of work.
            work_start_date: $crate::values::CalendarDate,
            office_city: $crate::values::Line,
            office_state: $crate::values::Line,
            office_country: $crate::values::Line,
        }
    };
}

macro_rules! details {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
        /// What need not be known of a person.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Details {
            $($(#[$doc])* pub $name: Option<$type>,)+
        }

        /// What changes of the details.
        #[derive(Debug, Clone, Default)]
        pub struct UpdateDetails {
            $($(#[$doc])* pub $name: Update<$type>,)+
        }

        impl UpdateDetails {
            pub(crate) fn apply(&self, details: &mut Details) {
                $(self.$name.change(&mut details.$name);)+
            }
        }
    };
}

person_details!(details);
