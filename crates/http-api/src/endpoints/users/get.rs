//! `GET /v1/users/{id}`: one user, deleted ones included.

use guerdon_domain::ports::{Consistency, Reads};
use guerdon_domain::users::User;

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};
use crate::operation::{Described, Read};
use guerdon_api_types::views::UserView;

pub(crate) struct Get;

impl Described for Get {
    const NAME: &'static str = "getUser";
    const SUMMARY: &'static str = "Fetch a user";
    const TEXT: &'static str = "A user, active or deleted.";
    type View = UserView<'static>;
}

impl Read for Get {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let user = user_in_path(reads, call)?;
        Answer::ok(&UserView::of(&user))
    }
}

/// The user that the path names.
pub(super) fn user_in_path<R: Reads + ?Sized>(reads: &mut R, call: &Call) -> Result<User, ApiError> {
    let id = call.path_id("user")?;
    in_path(reads.user(call.scope, id)?, "user")
}
