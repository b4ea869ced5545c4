//! `POST /v1/users`: create a user of a company.

use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::users::{CreateUserError, Profile, create};
use guerdon_domain::values::{CompanyId, Groups};

use super::details;
use super::view::UserView;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};

pub(super) const CUSTOM_FIELDS: [&str; 5] =
    ["custom_field_1", "custom_field_2", "custom_field_3", "custom_field_4", "custom_field_5"];

pub(crate) struct Create;

impl Described for Create {
    const NAME: &'static str = "createUser";
    const SUMMARY: &'static str = "Create a user";
    const TEXT: &'static str = "Creates an active user with an empty user wallet and peer wallet, and a manager wallet where \
         `manager` is true. Emails are unique among a company's active users.";
    const STATUS: u16 = 201;
    type View = UserView<'static>;
}

pub(crate) struct Command {
    company_id: CompanyId,
    profile: Profile,
}

impl Command {
    pub(crate) fn into_profile(self) -> Profile {
        self.profile
    }
}

impl Write for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Command = Command;

    fn command(fields: &mut Fields) -> Option<Command> {
        let company_id = fields.required("company_id");
        let email = fields.required("email");
        let first_name = fields.required("first_name");
        let last_name = fields.required("last_name");
        let details = details::given(fields);
        let manager = fields.flag("manager", false);
        let company_admin = fields.flag("company_admin", false);
        let corporation_admin = fields.flag("corporation_admin", false);
        let groups = fields.optional::<Option<Groups>>("groups").flatten();
        let custom_fields = CUSTOM_FIELDS.map(|name| fields.optional(name));
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
        Some(Command { company_id: company_id?, profile })
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &Command,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let user = create(tx, call.scope, command.company_id, &command.profile, context)?;
        Answer::created(&UserView::of(&user))
    }
}

impl From<CreateUserError> for ApiError {
    fn from(error: CreateUserError) -> Self {
        match error {
            CreateUserError::Denied(denied) => denied.into(),
            CreateUserError::EmailTaken => Self::bad_request(error.to_string()),
            CreateUserError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(field: &str, value: serde_json::Value) -> Result<Command, String> {
        let mut body = serde_json::json!({
            "company_id": "0193a5c0-0000-7000-8000-000000000001", "email": "a@a.example", "first_name": "Ada",
            "last_name": "Lovelace",
        });
        body[field] = value;
        let body = body.to_string();
        let mut fields = Fields::parse(body.as_bytes()).unwrap();
        let command = Create::command(&mut fields);
        fields.unless_faulty(command).map_err(|it| it.told().1.to_owned())
    }

    #[test]
    fn every_field_is_judged() {
        let check = |field: &str, value: serde_json::Value, is_valid: bool| {
            let told = read(field, value.clone()).err().unwrap_or_default();
            assert_eq!(told.is_empty(), is_valid, "{field} {value}: {told}");
            assert!(is_valid || told.starts_with(&format!("{field} ")), "{told}");
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
    fn groups_without_a_name_are_none() {
        assert!(read("groups", " , ".into()).unwrap().profile.groups.is_none());
        let groups = read("groups", "b, a,b".into()).unwrap().profile.groups;
        assert_eq!(groups.as_ref().map(Groups::as_str), Some("b,a"));
    }
}
