//! A user in responses (behaviour 13.1).

use guerdon_domain::users::User;
use guerdon_domain::values::{CompanyId, EmailAddress, Groups, SingleLine, Timestamp, UserId};
use schemars::JsonSchema;
use serde::Serialize;

use super::details::DetailsView;
use crate::WireValue;
use crate::values::LastName;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "User")]
pub struct UserView<'a> {
    /// The user's id. Example: `"019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22"`
    id: WireValue<UserId>,
    /// The company; it never changes. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    company_id: WireValue<CompanyId>,
    /// The user's email, unique among the company's active users; case-insensitive.
    /// Example: `"grace@acme.example"`
    #[schemars(with = "WireValue<EmailAddress>")]
    email: &'a str,
    /// The first name. Example: `"Grace"`
    #[schemars(with = "WireValue<SingleLine>")]
    first_name: &'a str,
    /// The last name; empty if the owner's name is a single word. Example: `"Hopper"`
    #[schemars(with = "WireValue<LastName>")]
    last_name: &'a str,
    #[serde(flatten)]
    details: DetailsView<'a>,
    /// Whether the user can send from a manager wallet. Example: `true`
    manager: bool,
    /// Whether the user administers the company. Example: `false`
    company_admin: bool,
    /// Whether the user administers the company's corporation; false if it belongs to none. Example: `false`
    corporation_admin: bool,
    /// Group names, separated by commas. Example: `"Engineering,Compilers"`
    #[schemars(with = "Option<WireValue<Groups>>")]
    groups: Option<&'a str>,
    /// A custom field of the company. Example: `"Building 7"`
    #[schemars(with = "Option<WireValue<SingleLine>>")]
    custom_field_1: Option<&'a str>,
    /// A custom field of the company. Example: `null`
    #[schemars(with = "Option<WireValue<SingleLine>>")]
    custom_field_2: Option<&'a str>,
    /// A custom field of the company. Example: `null`
    #[schemars(with = "Option<WireValue<SingleLine>>")]
    custom_field_3: Option<&'a str>,
    /// A custom field of the company. Example: `null`
    #[schemars(with = "Option<WireValue<SingleLine>>")]
    custom_field_4: Option<&'a str>,
    /// A custom field of the company. Example: `null`
    #[schemars(with = "Option<WireValue<SingleLine>>")]
    custom_field_5: Option<&'a str>,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: WireValue<Timestamp>,
    /// When it was last changed, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    updated_at: WireValue<Timestamp>,
    /// When the user was deleted; null for an active user. Example: `null`
    deleted_at: Option<WireValue<Timestamp>>,
}

impl<'a> UserView<'a> {
    /// The view of a user. A missing last name is shown as an empty string, because the field is never null.
    pub fn from_user(user: &'a User) -> Self {
        let profile = &user.profile;
        let [custom_1, custom_2, custom_3, custom_4, custom_5] = &profile.custom_fields;
        Self {
            id: WireValue(user.id),
            company_id: WireValue(user.company_id),
            email: profile.email.as_str(),
            first_name: profile.first_name.as_str(),
            last_name: line_text(&profile.last_name).unwrap_or_default(),
            details: DetailsView::from_details(&profile.details),
            manager: profile.manager,
            company_admin: profile.company_admin,
            corporation_admin: profile.corporation_admin,
            groups: profile.groups.as_ref().map(Groups::as_str),
            custom_field_1: line_text(custom_1),
            custom_field_2: line_text(custom_2),
            custom_field_3: line_text(custom_3),
            custom_field_4: line_text(custom_4),
            custom_field_5: line_text(custom_5),
            created_at: WireValue(user.created_at),
            updated_at: WireValue(user.updated_at),
            deleted_at: user.deleted_at.map(WireValue),
        }
    }
}

fn line_text(line: &Option<SingleLine>) -> Option<&str> {
    line.as_ref().map(SingleLine::as_str)
}
