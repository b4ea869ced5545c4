//! The bodies that create and change a user (behaviour 13.1).

use guerdon_domain::users::{Profile, UpdateUser};
use guerdon_domain::values::{CompanyId, Groups, SingleLine, Update as FieldUpdate};

use crate::body::Fields;
use crate::values::LastName;
use crate::views::details;

const CUSTOM_FIELDS: [&str; 5] =
    ["custom_field_1", "custom_field_2", "custom_field_3", "custom_field_4", "custom_field_5"];

/// A user to create.
pub struct NewUser {
    pub company_id: CompanyId,
    pub profile: Profile,
}

/// Reads the body that creates a user. Returns `None` after a fault, which `fields` reports.
pub fn read_new_user(fields: &mut Fields) -> Option<NewUser> {
    let company_id = fields.read_required("company_id");
    let email = fields.read_required("email");
    let first_name = fields.read_required("first_name");
    let last_name = fields.read_required("last_name");
    let details = details::read_details(fields);
    let manager = fields.read_flag("manager", false);
    let company_admin = fields.read_flag("company_admin", false);
    let corporation_admin = fields.read_flag("corporation_admin", false);
    let groups = fields.read_optional::<Option<Groups>>("groups").flatten();
    let custom_fields = CUSTOM_FIELDS.map(|name| fields.read_optional(name));
    let profile = Profile {
        email: email?,
        first_name: first_name?,
        last_name: Some(last_name?),
        details,
        manager,
        company_admin,
        corporation_admin,
        groups,
        custom_fields,
    };
    Some(NewUser { company_id: company_id?, profile })
}

/// Reads the body that changes a user. Returns `None` after a fault, which `fields` reports.
pub fn read_user_changes(fields: &mut Fields) -> Option<UpdateUser> {
    Some(UpdateUser {
        company_id: fields.read_change("company_id"),
        email: fields.read_change("email"),
        first_name: fields.read_change("first_name"),
        last_name: read_last_name(fields),
        details: details::read_details_update(fields),
        manager: fields.read_flag_change("manager"),
        company_admin: fields.read_flag_change("company_admin"),
        corporation_admin: fields.read_flag_change("corporation_admin"),
        groups: read_groups(fields),
        custom_fields: CUSTOM_FIELDS.map(|name| fields.read_update(name)),
    })
}

/// Reads the last name. An owner whose name is a single word has an empty last name, so clients may send it back empty.
fn read_last_name(fields: &mut Fields) -> FieldUpdate<SingleLine> {
    match fields.read_change("last_name") {
        None => FieldUpdate::Keep,
        Some(LastName(None)) => FieldUpdate::Clear,
        Some(LastName(Some(line))) => FieldUpdate::Set(line),
    }
}

/// Reads the groups. A string that contains no group name removes all groups.
fn read_groups(fields: &mut Fields) -> FieldUpdate<Groups> {
    match fields.read_update::<Option<Groups>>("groups") {
        FieldUpdate::Keep => FieldUpdate::Keep,
        FieldUpdate::Clear | FieldUpdate::Set(None) => FieldUpdate::Clear,
        FieldUpdate::Set(Some(groups)) => FieldUpdate::Set(groups),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_user(field: &str, value: serde_json::Value) -> Result<NewUser, String> {
        let mut body = serde_json::json!({
            "company_id": "0193a5c0-0000-7000-8000-000000000001", "email": "a@a.example", "first_name": "Ada",
            "last_name": "Lovelace",
        });
        body[field] = value;
        let body = body.to_string();
        let mut fields = Fields::parse(body.as_bytes()).unwrap();
        let command = read_new_user(&mut fields);
        fields.check_faults(command).map_err(|error| error.to_string())
    }

    #[test]
    fn every_field_is_validated() {
        let check = |field: &str, value: serde_json::Value, is_valid: bool| {
            let fault = parse_user(field, value.clone()).err().unwrap_or_default();
            assert_eq!(fault.is_empty(), is_valid, "{field} {value}: {fault}");
            assert!(is_valid || fault.starts_with(&format!("{field} ")), "{fault}");
        };
        let optional = [
            "department",
            "title",
            "supervisor_email",
            "employee_id",
            "birthday",
            "country_code",
            "work_start_date",
            "office_city",
            "office_state",
            "office_country",
            "groups",
            "custom_field_1",
            "custom_field_2",
            "custom_field_3",
            "custom_field_4",
            "custom_field_5",
        ];
        for field in optional {
            check(field, serde_json::Value::Null, true);
            check(field, "".into(), true);
            check(field, 1.into(), false);
            check(field, "a\0b".into(), false);
        }
        for field in ["manager", "company_admin", "corporation_admin"] {
            check(field, true.into(), true);
            check(field, serde_json::Value::Null, true);
            check(field, "true".into(), false);
        }
        for field in ["company_id", "email", "first_name", "last_name"] {
            check(field, serde_json::Value::Null, false);
            check(field, "".into(), false);
        }
        check("birthday", "02/29".into(), true);
        check("birthday", "02/30".into(), false);
        check("work_start_date", "13/01/2020".into(), false);
    }

    #[test]
    fn groups_without_a_name_are_unset() {
        assert!(parse_user("groups", " , ".into()).unwrap().profile.groups.is_none());
        let groups = parse_user("groups", "b, a,b".into()).unwrap().profile.groups;
        assert_eq!(groups.as_ref().map(Groups::as_str), Some("b,a"));
    }
}
