//! `PUT /v1/users/{id}`: change a user.

use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::users::{UpdateUser, UpdateUserError, update};

use super::get::user_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::requests::user_changes;
use guerdon_api_types::views::UserView;

pub(crate) struct Update;

impl Described for Update {
    const NAME: &'static str = "updateUser";
    const SUMMARY: &'static str = "Change a user";
    const TEXT: &'static str = "Changes the fields that are sent. A deleted user cannot be changed, and `company_admin` of a company's owner \
         stays true.";
    type View = UserView<'static>;
}

impl Write for Update {
    type Command = UpdateUser;

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        user_in_path(tx, call).map(drop)
    }

    fn command(fields: &mut Fields) -> Option<UpdateUser> {
        user_changes(fields)
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
