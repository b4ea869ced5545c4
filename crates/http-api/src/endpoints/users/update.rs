//! `PUT /v1/users/{id}`: change a user.

use guerdon_api_types::Fields;
use guerdon_api_types::requests::read_user_changes;
use guerdon_api_types::views::UserView;
use guerdon_domain::ports::Tx;
use guerdon_domain::users::{UpdateUser, UpdateUserError, update};

use super::get::user_in_path;
use crate::operation::{ApiError, Call, ErrorCode, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Update;

impl OperationDocs for Update {
    const NAME: &'static str = "updateUser";
    const SUMMARY: &'static str = "Change a user";
    const DESCRIPTION: &'static str = "Changes the fields that are sent. A deleted user cannot be changed, and `company_admin` of a company's owner \
         stays true.";
    type View = UserView<'static>;
}

impl WriteOperation for Update {
    type Input = UpdateUser;

    fn require_object(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        user_in_path(tx, call).map(drop)
    }

    fn parse_input(fields: &mut Fields) -> Option<UpdateUser> {
        read_user_changes(fields)
    }

    fn execute_write(work: Work<'_>, input: &UpdateUser) -> Result<RenderedResponse, ApiError> {
        let user = update(work.tx, work.call.scope, work.call.path_id("user")?, input, work.context)?;
        RenderedResponse::ok(&UserView::from_user(&user))
    }
}

impl From<UpdateUserError> for ApiError {
    fn from(error: UpdateUserError) -> Self {
        match error {
            UpdateUserError::Denied(denied) => Self::from_denied_path(denied, "user"),
            UpdateUserError::Store(error) => error.into(),
            UpdateUserError::Deleted => Self::invalid_field("id", error.to_string()),
            UpdateUserError::OtherCompany => Self::invalid_field("company_id", error.to_string()),
            UpdateUserError::NoLastName => Self::invalid_field("last_name", error.to_string()),
            UpdateUserError::IsOwner => Self::invalid_field("company_admin", error.to_string()),
            UpdateUserError::EmailTaken => {
                Self::about_field(ErrorCode::EmailTaken, "email", error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_code_of_its_cause_and_its_field() {
        let check = |error: UpdateUserError, code: ErrorCode, field: &str| {
            assert_eq!(ApiError::from(error).code_and_fields(), (code, vec![field]));
        };
        check(UpdateUserError::EmailTaken, ErrorCode::EmailTaken, "email");
        check(UpdateUserError::Deleted, ErrorCode::InvalidRequest, "id");
        check(UpdateUserError::OtherCompany, ErrorCode::InvalidRequest, "company_id");
        check(UpdateUserError::NoLastName, ErrorCode::InvalidRequest, "last_name");
        check(UpdateUserError::IsOwner, ErrorCode::InvalidRequest, "company_admin");
    }
}
