//! The details of a user that need not be known, in requests and in answers.

use guerdon_domain::person_details;
use guerdon_domain::users::{Details, UpdateDetails};
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::body::Fields;
use crate::operation::wire::Shown;

macro_rules! details {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
        #[derive(Serialize, JsonSchema)]
        pub(super) struct DetailsView<'a> {
            $($name: Option<Shown<&'a $type>>,)+
        }

        impl<'a> DetailsView<'a> {
            pub(super) fn of(details: &'a Details) -> Self {
                Self { $($name: details.$name.as_ref().map(Shown),)+ }
            }
        }

        /// Those of a user that is made.
        pub(super) fn given(fields: &mut Fields) -> Details {
            Details { $($name: fields.optional(stringify!($name)),)+ }
        }

        /// What changes of them.
        pub(super) fn updated(fields: &mut Fields) -> UpdateDetails {
            UpdateDetails { $($name: fields.updated(stringify!($name)),)+ }
        }
    };
}

person_details!(details);

#[cfg(test)]
mod tests {
    macro_rules! names {
        ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
            const NAMES: &[&str] = &[$(stringify!($name)),+];
        };
    }

    guerdon_domain::person_details!(names);

    #[test]
    fn every_detail_is_on_the_page_in_its_order() {
        let page = include_str!("../../../../../docs/specified-behaviour.md");
        let (_, fields) = page.split_once("**13.1 Fields,**").unwrap();
        let mut from = 0;
        for name in NAMES {
            let at = fields[from..].find(&format!("`{name}`"));
            from += at.unwrap_or_else(|| panic!("{name} is missing in behaviour 13.1"));
        }
    }
}
