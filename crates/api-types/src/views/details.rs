//! The optional details of a user in requests and responses.

use guerdon_domain::person_details;
use guerdon_domain::users::{Details, UpdateDetails};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use crate::WireValue;
use crate::body::Fields;
use crate::docs::FieldDocs;
use crate::field_docs;

macro_rules! details {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
        #[derive(Serialize, JsonSchema)]
        #[schemars(transform = add_field_docs)]
        pub struct DetailsView<'a> {
            $($name: Option<WireValue<&'a $type>>,)+
        }

        impl<'a> DetailsView<'a> {
            pub fn from_details(details: &'a Details) -> Self {
                Self { $($name: details.$name.as_ref().map(WireValue),)+ }
            }
        }

        /// Reads the details of a new user.
        pub fn read_details(fields: &mut Fields) -> Details {
            Details { $($name: fields.read_optional(stringify!($name)),)+ }
        }

        /// Reads the changes to a user's details.
        pub fn read_details_update(fields: &mut Fields) -> UpdateDetails {
            UpdateDetails { $($name: fields.read_update(stringify!($name)),)+ }
        }
    };
}

person_details!(details);

const FIELD_DOCS: FieldDocs = field_docs! {
    /// The department. Example: `"Compilers"`
    department,
    /// The job title. Example: `"Rear admiral"`
    title,
    /// The supervisor's email, which need not belong to a user. Example: `"ada@acme.example"`
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

/// Adds descriptions for the API description; the list of fields in the domain has none.
fn add_field_docs(schema: &mut Schema) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, text) in FIELD_DOCS {
        if let Some(Value::Object(property)) = properties.get_mut(*name) {
            property.insert("description".to_owned(), (*text).into());
        }
    }
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
    fn every_detail_is_documented_in_its_order() {
        let page = include_str!("../../../../docs/specified-behaviour.md");
        let (_, fields) = page.split_once("**13.1 Fields,**").unwrap();
        let mut from = 0;
        for name in NAMES {
            let position = fields[from..].find(&format!("`{name}`"));
            from += position.unwrap_or_else(|| panic!("{name} is missing in behaviour 13.1"));
        }
    }
}
