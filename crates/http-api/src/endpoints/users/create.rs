//! `POST /v1/users`: create a user of a company.

use guerdon_api_types::Fields;
use guerdon_api_types::requests::{NewUser, read_new_user};
use guerdon_api_types::views::UserView;
use guerdon_domain::users::{CreateUserError, create};

use crate::operation::{ApiError, ErrorCode, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Create;

impl OperationDocs for Create {
    const NAME: &'static str = "createUser";
    const SUMMARY: &'static str = "Create a user";
    const DESCRIPTION: &'static str = "Creates an active user with an empty user wallet and peer wallet, and a manager wallet if \
         `manager` is true. Emails are unique among a company's active users.";
    const SUCCESS_STATUS: u16 = 201;
    type View = UserView<'static>;
}

impl WriteOperation for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Input = NewUser;

    fn parse_input(fields: &mut Fields) -> Option<NewUser> {
        read_new_user(fields)
    }

    fn execute_write(work: Work<'_>, input: &NewUser) -> Result<RenderedResponse, ApiError> {
        let user = create(work.tx, work.call.scope, input.company_id, &input.profile, work.context)?;
        Ok(RenderedResponse::created(&UserView::from_user(&user))?.about_company(user.company_id))
    }
}

impl From<CreateUserError> for ApiError {
    fn from(error: CreateUserError) -> Self {
        match error {
            CreateUserError::Denied(denied) => denied.into(),
            CreateUserError::EmailTaken => {
                Self::about_field(ErrorCode::EmailTaken, "email", error.to_string())
            }
            CreateUserError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_code_of_its_cause_and_its_field() {
        let check = |error: CreateUserError, code: ErrorCode, field: &str| {
            assert_eq!(ApiError::from(error).code_and_fields(), (code, vec![field]));
        };
        check(CreateUserError::EmailTaken, ErrorCode::EmailTaken, "email");
    }
}
