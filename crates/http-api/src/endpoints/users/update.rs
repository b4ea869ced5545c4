//! `PUT /v1/users/{id}`: change a user.

use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::users::{UpdateUser, UpdateUserError, update};
use guerdon_domain::values::{Groups, Line, Update as FieldUpdate};

use super::create::CUSTOM_FIELDS;
use super::details;
use super::get::user_in_path;
use super::last_name::LastName;
use super::view::UserView;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};

pub(crate) struct Update;

impl Described for Update {
    const NAME: &'static str = "updateUser";
    const SUMMARY: &'static str = "Change a user";
    const TEXT: &'static str = "Changes the fields that are sent. A deleted user cannot be changed, a company's owner cannot \
         lose `company_admin`.";
    type View = UserView<'static>;
}

impl Write for Update {
    type Command = UpdateUser;

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        user_in_path(tx, call).map(drop)
    }

    fn command(fields: &mut Fields) -> Option<UpdateUser> {
        Some(UpdateUser {
            company_id: fields.changed("company_id"),
            email: fields.changed("email"),
            first_name: fields.changed("first_name"),
            last_name: last_name(fields),
            details: details::updated(fields),
            manager: fields.changed_flag("manager"),
            company_admin: fields.changed_flag("company_admin"),
            corporation_admin: fields.changed_flag("corporation_admin"),
            groups: groups(fields),
            custom_fields: CUSTOM_FIELDS.map(|name| fields.updated(name)),
        })
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &UpdateUser,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let user = update(tx, call.scope, call.path_id("user")?, command, context)?;
        Answer::ok(&UserView::of(&user))
    }
}

/// An owner who is named by a single word has an empty last name, which may be written back.
fn last_name(fields: &mut Fields) -> FieldUpdate<Line> {
    match fields.changed("last_name") {
        None => FieldUpdate::Keep,
        Some(LastName(None)) => FieldUpdate::Clear,
        Some(LastName(Some(line))) => FieldUpdate::Set(line),
    }
}

/// Text that names no group unsets them.
fn groups(fields: &mut Fields) -> FieldUpdate<Groups> {
    match fields.updated::<Option<Groups>>("groups") {
        FieldUpdate::Keep => FieldUpdate::Keep,
        FieldUpdate::Clear | FieldUpdate::Set(None) => FieldUpdate::Clear,
        FieldUpdate::Set(Some(groups)) => FieldUpdate::Set(groups),
    }
}

impl From<UpdateUserError> for ApiError {
    fn from(error: UpdateUserError) -> Self {
        match error {
            UpdateUserError::Denied(denied) => Self::path_denied(denied, "user"),
            UpdateUserError::Store(error) => error.into(),
            UpdateUserError::Deleted
            | UpdateUserError::OtherCompany
            | UpdateUserError::NoLastName
            | UpdateUserError::IsOwner
            | UpdateUserError::EmailTaken => Self::bad_request(error.to_string()),
        }
    }
}
