//! `POST /v1/users`: create a user of a company.

use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::users::{CreateUserError, create};

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::requests::{NewUser, new_user};
use guerdon_api_types::views::UserView;

pub(crate) struct Create;

impl Described for Create {
    const NAME: &'static str = "createUser";
    const SUMMARY: &'static str = "Create a user";
    const TEXT: &'static str = "Creates an active user with an empty user wallet and peer wallet, and a manager wallet if \
         `manager` is true. Emails are unique among a company's active users.";
    const STATUS: u16 = 201;
    type View = UserView<'static>;
}

impl Write for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Command = NewUser;

    fn command(fields: &mut Fields) -> Option<NewUser> {
        new_user(fields)
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &NewUser,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let user = create(tx, call.scope, command.company_id, &command.profile, context)?;
        Answer::created(&UserView::of(&user))
    }
}

impl From<CreateUserError> for ApiError {
    fn from(error: CreateUserError) -> Self {
        match error {
            CreateUserError::Denied(denied) => denied.into(),
            CreateUserError::EmailTaken => Self::bad_request(error.to_string()),
            CreateUserError::Store(error) => error.into(),
        }
    }
}
