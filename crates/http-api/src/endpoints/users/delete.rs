//! `DELETE /v1/users/{id}`: deactivate a user; its funds return to the reserve.

use guerdon_domain::commands::Command;
use guerdon_domain::users::{DeleteUser, DeleteUserError};

use crate::operation::answer::Answer;
use crate::operation::error::ApiError;
use crate::operation::{Described, Render, ToCommand, Write};
use guerdon_api_types::body::Fields;

pub(crate) struct Delete;

impl Described for Delete {
    const NAME: &'static str = "deleteUser";
    const SUMMARY: &'static str = "Delete a user";
    const TEXT: &'static str = "Deactivates the user and returns the balances of the wallets to the company's reserve. Deleting \
         again has no effect. A company's owner cannot be deleted (400).";
    const STATUS: u16 = 204;
    type View = ();
}

impl Write for Delete {
    const HAS_BODY: bool = false;
    const SUBMITS: Option<(ToCommand<()>, Render)> = Some((
        |call, _| Ok(Command::DeleteUser(DeleteUser(call.path_id("user")?))),
        |_| Ok(Answer::no_content()),
    ));
    type Command = ();

    fn command(_fields: &mut Fields) -> Option<()> {
        Some(())
    }
}

impl From<DeleteUserError> for ApiError {
    fn from(error: DeleteUserError) -> Self {
        match error {
            DeleteUserError::Denied(denied) => Self::path_denied(denied, "user"),
            DeleteUserError::IsOwner => Self::bad_request(error.to_string()),
            DeleteUserError::Store(error) => error.into(),
        }
    }
}
