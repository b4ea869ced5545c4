//! Users.

use diesel::prelude::*;
use guerdon_domain::ports::StoreError;
use guerdon_domain::users::{Person, Profile, User};
use guerdon_domain::values::{
    CalendarDate, CompanyId, CountryCode, EmailAddress, Groups, Line, MonthDay, UserId,
};

use super::Reading;
use super::schema::users;
use super::types::{At, Id};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = users, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct UserRow {
    id: Id<UserId>,
    company_id: Id<CompanyId>,
    email: String,
    email_folded: String,
    first_name: String,
    last_name: Option<String>,
    department: Option<String>,
    title: Option<String>,
    supervisor_email: Option<String>,
    employee_id: Option<String>,
    birthday: Option<String>,
    country_code: Option<String>,
    work_start_date: Option<String>,
    office_city: Option<String>,
    office_state: Option<String>,
    office_country: Option<String>,
    manager: bool,
    company_admin: bool,
    corporation_admin: bool,
    group_names: Option<String>,
    custom_field_1: Option<String>,
    custom_field_2: Option<String>,
    custom_field_3: Option<String>,
    custom_field_4: Option<String>,
    custom_field_5: Option<String>,
    created_at: At,
    updated_at: At,
    deleted_at: Option<At>,
}

fn text(value: &Option<Line>) -> Option<String> {
    value.as_ref().map(|it| it.as_str().to_owned())
}

impl UserRow {
    pub(crate) fn of(user: &User) -> Self {
        let it = &user.profile;
        let [custom_field_1, custom_field_2, custom_field_3, custom_field_4, custom_field_5] =
            it.custom_fields.each_ref().map(text);
        Self {
            id: Id(user.id),
            company_id: Id(user.company_id),
            email: it.email.as_str().to_owned(),
            email_folded: it.email.folded().to_owned(),
            first_name: it.first_name.as_str().to_owned(),
            last_name: text(&it.last_name),
            department: text(&it.department),
            title: text(&it.title),
            supervisor_email: it.supervisor_email.as_ref().map(|it| it.as_str().to_owned()),
            employee_id: text(&it.employee_id),
            birthday: it.birthday.map(|it| it.to_string()),
            country_code: it.country_code.as_ref().map(|it| it.as_str().to_owned()),
            work_start_date: it.work_start_date.map(|it| it.to_string()),
            office_city: text(&it.office_city),
            office_state: text(&it.office_state),
            office_country: text(&it.office_country),
            manager: it.manager,
            company_admin: it.company_admin,
            corporation_admin: it.corporation_admin,
            group_names: it.groups.as_ref().map(|it| it.as_str().to_owned()),
            custom_field_1,
            custom_field_2,
            custom_field_3,
            custom_field_4,
            custom_field_5,
            created_at: At(user.created_at),
            updated_at: At(user.updated_at),
            deleted_at: user.deleted_at.map(At),
        }
    }

    pub(crate) fn read(self) -> Result<User, StoreError> {
        let reading = Reading { table: "users", id: &self.id.0 };
        let line = |column, value: &Option<String>| reading.parse_opt(column, value.as_deref(), Line::parse);
        let groups = match self.group_names.as_deref() {
            Some(it) => reading.parse("group_names", it, Groups::parse)?,
            None => None,
        };
        let profile = Profile {
            email: reading.parse("email", &self.email, EmailAddress::parse)?,
            first_name: reading.parse("first_name", &self.first_name, Line::parse)?,
            last_name: line("last_name", &self.last_name)?,
            department: line("department", &self.department)?,
            title: line("title", &self.title)?,
            supervisor_email: reading.parse_opt(
                "supervisor_email",
                self.supervisor_email.as_deref(),
                EmailAddress::parse,
            )?,
            employee_id: line("employee_id", &self.employee_id)?,
            birthday: reading.parse_opt("birthday", self.birthday.as_deref(), MonthDay::parse)?,
            country_code: reading.parse_opt(
                "country_code",
                self.country_code.as_deref(),
                CountryCode::parse,
            )?,
            work_start_date: reading.parse_opt(
                "work_start_date",
                self.work_start_date.as_deref(),
                CalendarDate::parse,
            )?,
            office_city: line("office_city", &self.office_city)?,
            office_state: line("office_state", &self.office_state)?,
            office_country: line("office_country", &self.office_country)?,
            manager: self.manager,
            company_admin: self.company_admin,
            corporation_admin: self.corporation_admin,
            groups,
            custom_fields: [
                line("custom_field_1", &self.custom_field_1)?,
                line("custom_field_2", &self.custom_field_2)?,
                line("custom_field_3", &self.custom_field_3)?,
                line("custom_field_4", &self.custom_field_4)?,
                line("custom_field_5", &self.custom_field_5)?,
            ],
        };
        Ok(User {
            id: self.id.0,
            company_id: self.company_id.0,
            profile,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
            deleted_at: self.deleted_at.map(|it| it.0),
        })
    }
}

/// The few columns that a `Person` is made of.
#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
pub(crate) struct PersonRow {
    pub(crate) id: Id<UserId>,
    company_id: Id<CompanyId>,
    email: String,
    first_name: String,
    last_name: Option<String>,
    manager: bool,
    deleted_at: Option<At>,
}

impl PersonRow {
    pub(crate) fn read(self) -> Result<Person, StoreError> {
        let reading = Reading { table: "users", id: &self.id.0 };
        Ok(Person {
            id: self.id.0,
            company_id: self.company_id.0,
            first_name: reading.parse("first_name", &self.first_name, Line::parse)?,
            last_name: reading.parse_opt("last_name", self.last_name.as_deref(), Line::parse)?,
            email: reading.parse("email", &self.email, EmailAddress::parse)?,
            manager: self.manager,
            active: self.deleted_at.is_none(),
        })
    }
}
