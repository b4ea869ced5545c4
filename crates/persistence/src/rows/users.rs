//! Users.

use diesel::prelude::*;
use guerdon_domain::person_details;
use guerdon_domain::ports::StoreError;
use guerdon_domain::users::{Details, Profile, User, UserSummary};
use guerdon_domain::values::{CompanyId, EmailAddress, Groups, SingleLine, UserId};

use super::schema::users;
use super::{DbTimestamp, Id, RowReader};

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
    created_at: DbTimestamp,
    updated_at: DbTimestamp,
    deleted_at: Option<DbTimestamp>,
}

macro_rules! details {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {
        #[derive(Queryable, Selectable, Insertable, AsChangeset)]
        #[diesel(table_name = users, treat_none_as_default_value = false, treat_none_as_null = true)]
        pub(crate) struct DetailsRow {
            $($name: Option<String>,)+
        }

        impl DetailsRow {
            fn from_details(details: &Details) -> Self {
                Self { $($name: details.$name.as_ref().map(ToString::to_string),)+ }
            }

            fn to_details(&self, reader: &RowReader<'_>) -> Result<Details, StoreError> {
                $(let $name = reader.parse_nullable(stringify!($name), self.$name.as_deref(), <$type>::parse)?;)+
                Ok(Details { $($name,)+ })
            }
        }
    };
}

person_details!(details);

fn line_text(value: &Option<SingleLine>) -> Option<String> {
    value.as_ref().map(|value| value.as_str().to_owned())
}

impl UserRow {
    pub(crate) fn from_user(user: &User) -> Self {
        let profile = &user.profile;
        let [custom_field_1, custom_field_2, custom_field_3, custom_field_4, custom_field_5] =
            profile.custom_fields.each_ref().map(line_text);
        Self {
            id: Id(user.id),
            company_id: Id(user.company_id),
            email: profile.email.as_str().to_owned(),
            email_folded: profile.email.folded().to_owned(),
            first_name: profile.first_name.as_str().to_owned(),
            last_name: line_text(&profile.last_name),
            details: DetailsRow::from_details(&profile.details),
            manager: profile.manager,
            company_admin: profile.company_admin,
            corporation_admin: profile.corporation_admin,
            group_names: profile.groups.as_ref().map(|groups| groups.as_str().to_owned()),
            custom_field_1,
            custom_field_2,
            custom_field_3,
            custom_field_4,
            custom_field_5,
            created_at: DbTimestamp(user.created_at),
            updated_at: DbTimestamp(user.updated_at),
            deleted_at: user.deleted_at.map(DbTimestamp),
        }
    }

    pub(crate) fn into_user(self) -> Result<User, StoreError> {
        let reader = RowReader { table: "users", id: &self.id.0 };
        let line = |column, value: &Option<String>| {
            reader.parse_nullable(column, value.as_deref(), SingleLine::parse)
        };
        let groups = match self.group_names.as_deref() {
            Some(groups) => reader.parse_column("group_names", groups, Groups::parse)?,
            None => None,
        };
        let profile = Profile {
            email: reader.parse_column("email", &self.email, EmailAddress::parse)?,
            first_name: reader.parse_column("first_name", &self.first_name, SingleLine::parse)?,
            last_name: line("last_name", &self.last_name)?,
            details: self.details.to_details(&reader)?,
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

/// The columns of a `UserSummary`.
#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
pub(crate) struct UserSummaryRow {
    pub(crate) id: Id<UserId>,
    company_id: Id<CompanyId>,
    email: String,
    first_name: String,
    last_name: Option<String>,
    manager: bool,
    deleted_at: Option<DbTimestamp>,
}

impl UserSummaryRow {
    pub(crate) fn into_summary(self) -> Result<UserSummary, StoreError> {
        let reader = RowReader { table: "users", id: &self.id.0 };
        Ok(UserSummary {
            id: self.id.0,
            company_id: self.company_id.0,
            first_name: reader.parse_column("first_name", &self.first_name, SingleLine::parse)?,
            last_name: reader.parse_nullable("last_name", self.last_name.as_deref(), SingleLine::parse)?,
            email: reader.parse_column("email", &self.email, EmailAddress::parse)?,
            manager: self.manager,
            active: self.deleted_at.is_none(),
        })
    }
}
