//! The details of a user that need not be known, in requests and in answers.

use guerdon_domain::person_details;
use guerdon_domain::users::{Details, UpdateDetails};
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::Shown;
use crate::body::Fields;
use crate::docs::{self, FieldDocs};
use crate::field_docs;

macro_rules! details {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
        #[derive(Serialize, JsonSchema)]
        #[schemars(transform = documented)]
        pub struct DetailsView<'a> {
            $($name: Option<Shown<&'a $type>>,)+
        }

        impl<'a> DetailsView<'a> {
            pub fn of(details: &'a Details) -> Self {
                Self { $($name: details.$name.as_ref().map(Shown),)+ }
            }
        }

        /// Reads the details of a new user.
        pub fn given(fields: &mut Fields) -> Details {
            Details { $($name: fields.optional(stringify!($name)),)+ }
        }

        /// Reads the changes to a user's details.
        pub fn updated(fields: &mut Fields) -> UpdateDetails {
            UpdateDetails { $($name: fields.updated(stringify!($name)),)+ }
        }
    };
}

person_details!(details);

const FIELD_DOCS: FieldDocs = field_docs! {
    /// The department. Example: `"Compilers"`
    department,
    /// The job title. Example: `"Rear admiral"`
    title,
    /// The supervisor's email; need not belong to a user. Example: `"ada@acme.example"`
    supervisor_email,
    /// The company's identifier of the employee. Example: `"4711"`
    employee_id,
    /// The birthday without the year, as mm/dd. Example: `"12/09"`
    birthday,
    /// The ISO 3166-1 country code, two or three letters; stored in upper case. Example: `"US"`
    country_code,
    /// The first day of work, as mm/dd/yyyy. Example: `"07/01/1949"`
    work_start_date,
    /// The office's city. Example: `"Arlington"`
    office_city,
    /// The office's state. Example: `"Virginia"`
    office_state,
    /// The office's country. Example: `"United States"`
    office_country,
};

/// Adds the descriptions: the list of fields in the domain has none for clients.
fn documented(schema: &mut Schema) {
    docs::add(schema.get_mut("properties"), FIELD_DOCS, &[]);
}

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
        let page = include_str!("../../../../docs/specified-behaviour.md");
        let (_, fields) = page.split_once("**13.1 Fields,**").unwrap();
        let mut from = 0;
        for name in NAMES {
            let at = fields[from..].find(&format!("`{name}`"));
            from += at.unwrap_or_else(|| panic!("{name} is missing in behaviour 13.1"));
        }
    }
}
