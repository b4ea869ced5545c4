//! `DELETE /v1/users/{id}`: deactivate a user; the points return to the reserve.

use guerdon_api_types::Fields;
use guerdon_domain::commands::Command;
use guerdon_domain::users::{DeleteUser, DeleteUserError};

use crate::operation::{
    ApiError, OperationDocs, RenderResponse, RenderedResponse, ToCommand, WriteOperation,
};

pub(crate) struct Delete;

impl OperationDocs for Delete {
    const NAME: &'static str = "deleteUser";
    const SUMMARY: &'static str = "Delete a user";
    const DESCRIPTION: &'static str = "Deactivates the user and returns the balances of the wallets to the company's reserve. Deleting \
         again has no effect. A company's owner cannot be deleted (400).";
    const SUCCESS_STATUS: u16 = 204;
    type View = ();
}

impl WriteOperation for Delete {
    const HAS_BODY: bool = false;
    const SUBMISSION: Option<(ToCommand<()>, RenderResponse)> = Some((
        |call, _| Ok(Command::DeleteUser(DeleteUser(call.path_id("user")?))),
        |_| Ok(RenderedResponse::no_content()),
    ));
    type Input = ();

    fn parse_input(_fields: &mut Fields) -> Option<()> {
        Some(())
    }
}

impl From<DeleteUserError> for ApiError {
    fn from(error: DeleteUserError) -> Self {
        match error {
            DeleteUserError::Denied(denied) => Self::from_denied_path(denied, "user"),
            DeleteUserError::IsOwner => Self::invalid_field("id", error.to_string()),
            DeleteUserError::Store(error) => error.into(),
        }
    }
}
