//! Users.

use diesel::prelude::*;
use guerdon_domain::person_details;
use guerdon_domain::ports::StoreError;
use guerdon_domain::users::{Details, Person, Profile, User};
use guerdon_domain::values::{CompanyId, EmailAddress, Groups, Line, UserId};

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
    #[diesel(embed)]
    details: DetailsRow,
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

macro_rules! details {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
        #[derive(Queryable, Selectable, Insertable, AsChangeset)]
        #[diesel(table_name = users, treat_none_as_default_value = false, treat_none_as_null = true)]
        pub(crate) struct DetailsRow {
            $($name: Option<String>,)+
        }

        impl DetailsRow {
            fn of(it: &Details) -> Self {
                Self { $($name: it.$name.as_ref().map(ToString::to_string),)+ }
            }

            fn read(&self, reading: &Reading<'_>) -> Result<Details, StoreError> {
                $(let $name = reading.parse_opt(stringify!($name), self.$name.as_deref(), <$type>::parse)?;)+
                Ok(Details { $($name,)+ })
            }
        }
    };
}

person_details!(details);

fn text(value: &Option<Line>) -> Option<String> {
    value.as_ref().map(|value| value.as_str().to_owned())
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
            details: DetailsRow::of(&it.details),
            manager: it.manager,
            company_admin: it.company_admin,
            corporation_admin: it.corporation_admin,
            group_names: it.groups.as_ref().map(|groups| groups.as_str().to_owned()),
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
            Some(groups) => reading.parse("group_names", groups, Groups::parse)?,
            None => None,
        };
        let profile = Profile {
            email: reading.parse("email", &self.email, EmailAddress::parse)?,
            first_name: reading.parse("first_name", &self.first_name, Line::parse)?,
            last_name: line("last_name", &self.last_name)?,
            details: self.details.read(&reading)?,
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
            deleted_at: self.deleted_at.map(|deleted_at| deleted_at.0),
        })
    }
}

/// The few columns of a `Person`.
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
